#include "lm/model_config.h"

#include <gmock/gmock.h>
