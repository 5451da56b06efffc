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

// json.dumps of a string: ASCII only, \uXXXX for the rest.
void AppendPythonJson(std::string_view text, std::string& out);

}  // namespace agentr
