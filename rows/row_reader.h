// Reads rows of training data in any of the formats (row.h), for trainer, audit and report.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "rows/row.h"

namespace agentr {

// The row of a line. Throws FatalError(kFile) with what is wrong and the cure, for a line that is no
// JSON or no row.
Row ReadRow(std::string_view line);

// The rows of texts of a file: JSON lines or one JSON array. Throws FatalError(kFile) with the place
// of the fault; token rows are refused too.
std::vector<Row> ReadRowFile(const std::filesystem::path& path);

// Replaces the rows' provenance by that of the file beside rows in Agent-R's format. Does nothing
// where there is no such file.
void ReadProvenanceBeside(const std::filesystem::path& path, std::vector<Row>& rows);

}  // namespace agentr
