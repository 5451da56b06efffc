# LibTorch, only for lm and training: Debian's, or one named by CMAKE_PREFIX_PATH, such as that of
# a Python package:  -DCMAKE_PREFIX_PATH=$(python -c 'import torch; print(torch.utils.cmake_prefix_path)')
#
# Its own TorchConfig.cmake sets flags for every target and, in a LibTorch with CUDA, asks for the
# whole CUDA toolkit. We need only its headers and three libraries, so we search for those ourselves.

string(REPLACE ":" ";" _roots "$ENV{CMAKE_PREFIX_PATH}")
set(_roots ${CMAKE_PREFIX_PATH} ${_roots})
list(TRANSFORM _roots APPEND "/../..")  # torch.utils.cmake_prefix_path is <root>/share/cmake
find_path(AGENTR_TORCH_INCLUDE ATen/ATen.h HINTS ${_roots} PATH_SUFFIXES include REQUIRED)
foreach(_name torch torch_cpu c10)
  find_library(AGENTR_LIB_${_name} ${_name} HINTS ${_roots} PATH_SUFFIXES lib REQUIRED)
endforeach()

# The Python package's folder contains copies of other libraries, which would hide the system's. So the
# targets use a folder with links to everything else.
set(_include "${AGENTR_TORCH_INCLUDE}")
if(EXISTS "${_include}/fmt")
  set(_include "${PROJECT_BINARY_DIR}/torch-include")
  file(REMOVE_RECURSE "${_include}")
  file(MAKE_DIRECTORY "${_include}")
  file(GLOB _entries RELATIVE "${AGENTR_TORCH_INCLUDE}" "${AGENTR_TORCH_INCLUDE}/*")
  list(REMOVE_ITEM _entries fmt pybind11 nlohmann)
  foreach(_entry ${_entries})
    file(CREATE_LINK "${AGENTR_TORCH_INCLUDE}/${_entry}" "${_include}/${_entry}" SYMBOLIC)
  endforeach()
endif()

add_library(agentr_torch INTERFACE)
target_include_directories(agentr_torch SYSTEM INTERFACE
                           "${_include}" "${_include}/torch/csrc/api/include")
# For ccache 4.7, which confuses two LibTorchs if only -isystem differs.
target_compile_definitions(agentr_torch INTERFACE "AGENTR_TORCH=${AGENTR_TORCH_INCLUDE}")
# libtorch.so has no code of its own: it links the GPU libraries, if there are any.
# The OpenBLAS that shares LibTorch's OpenMP threads comes before any other: the waiting threads of the one
# built with threads of its own take the processors from LibTorch's, which halves the speed of training.
get_filename_component(_lib "${AGENTR_LIB_torch_cpu}" DIRECTORY)
find_file(AGENTR_OPENMP_BLAS libblas.so.3 PATHS "${_lib}/openblas-openmp" NO_DEFAULT_PATH)
set(_torch "${AGENTR_LIB_torch}")
if(AGENTR_OPENMP_BLAS)
  list(PREPEND _torch "${AGENTR_OPENMP_BLAS}")
endif()
target_link_libraries(agentr_torch INTERFACE -Wl,--push-state,--no-as-needed ${_torch}
                      -Wl,--pop-state "${AGENTR_LIB_torch_cpu}" "${AGENTR_LIB_c10}")

# Of a LibTorch with CUDA: what the exchange of gradients between GPUs needs (training/distributed). As
# Python packages CUDA's and NCCL's headers lie beside LibTorch.
find_library(AGENTR_LIB_torch_cuda torch_cuda PATHS "${_lib}" NO_DEFAULT_PATH)
file(GLOB _nvidia "${_lib}/../../nvidia/*/include")
find_path(AGENTR_CUDA_INCLUDE cuda_runtime_api.h HINTS ${_nvidia} /usr/local/cuda/include)
find_path(AGENTR_NCCL_INCLUDE nccl.h HINTS ${_nvidia})

# The loops of at::parallel_for are a header's template, which runs on one thread where it is compiled without
# OpenMP. The thread sanitizer does not see how GNU OpenMP hands work from thread to thread.
if(NOT AGENTR_SANITIZE MATCHES "thread")
  find_package(OpenMP COMPONENTS CXX)
  if(OpenMP_CXX_FOUND)
    target_link_libraries(agentr_torch INTERFACE OpenMP::OpenMP_CXX)
  else()
    message(WARNING "The compiler has no OpenMP, so training's own loops run on one thread. Clang needs Debian's "
                    "package libomp-dev.")
  endif()
endif()
