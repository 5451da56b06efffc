// Formats texts and numbers like Python, for replies that must equal those of a Python server.
// Texts are UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace agentr {

// repr(float): the shortest digits that read back as the same number; "20.0", "5.5", "1e+16",
// "1e-05".
std::string PythonFloat(double value);

// str.strip(), str.lower(): with Unicode's white space and full lower-casing.
std::string_view PythonStrip(std::string_view text);
std::string PythonLower(std::string_view text);

// repr(str): in single quotes if it can be. Bytes that are no UTF-8 stay as they are.
std::string PythonRepr(std::string_view text);

// text.encode().decode("unicode-escape").encode("latin-1").decode("utf-8"): the escapes of Python's
// literals become the bytes that they mean. Where Python raises an error, the text as it stands;
// also for \N{…}, the names of characters.
std::string PythonUnescape(std::string text);

// json.dumps of a string: ASCII only, \uXXXX for the rest.
void AppendPythonJson(std::string_view text, std::string& out);

}  // namespace agentr
