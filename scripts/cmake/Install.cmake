# What `cmake --install` puts where (FHS), and `cpack -G DEB`. Two components:
#   programs  bin, lib/agentr, share/agentr (configs, the bundled model), man pages, completions,
#             the Python package, examples of it and of systemd units -> package agentr
#   dev       static libraries, headers and find_package(agentr): search, playing and language
#             models for other programs                                        -> package agentr-dev
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(programs GLOBAL PROPERTY AGENTR_PROGRAMS)
# Those that are built: quickstart.sh builds a few of them.
install(TARGETS ${programs} RUNTIME COMPONENT programs OPTIONAL)
install(TARGETS agentr_aten LIBRARY DESTINATION lib/agentr COMPONENT programs OPTIONAL)
install(DIRECTORY configs models DESTINATION "${CMAKE_INSTALL_DATADIR}/agentr" COMPONENT programs)
install(FILES CHANGELOG.md CITATION.cff LICENSE README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT programs)
# Where Debian's Python looks for packages below /usr.
install(PROGRAMS clients/python/agentr_env.py DESTINATION lib/python3/dist-packages COMPONENT programs)
install(DIRECTORY clients/python/agentr DESTINATION lib/python3/dist-packages
        COMPONENT programs PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY examples/number_game examples/minigrid examples/jericho
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT programs
        PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT programs)
install(FILES packaging/agentr-env-server@.service packaging/agentr-lm-server.service
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT programs)

# Man pages and completions of the programs that are built (agentr_program).
set(docs "${PROJECT_BINARY_DIR}/docs")
file(MAKE_DIRECTORY "${docs}/man" "${docs}/bash" "${docs}/zsh")
install(DIRECTORY "${docs}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT programs)
install(DIRECTORY "${docs}/bash/" COMPONENT programs
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(DIRECTORY "${docs}/zsh/" COMPONENT programs
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")

# The libraries of search, of playing and of language models, with all that they need.
set(libraries common http babyai detective lmrl_games questions search textcraft webshop clients store tasks rollout mcts
              lm_jinja lm_text lm_weights lm_kernels lm_decoder lm_engine lm_local lm_files lm_model)
list(TRANSFORM libraries PREPEND agentr_)
install(TARGETS ${libraries} agentr_httplib agentr_libpq agentr_pcre2 agentr_tomlplusplus EXPORT agentr
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/agentr" COMPONENT dev)
foreach(folder common clients store tasks lm rollout mcts servers/http games)
  install(DIRECTORY ${folder}/ DESTINATION "include/agentr/${folder}" COMPONENT dev
          FILES_MATCHING PATTERN "*.h" PATTERN "torch_compat.h" EXCLUDE)
endforeach()
install(FILES servers/env_service.h servers/text_game_service.h
        DESTINATION include/agentr/servers COMPONENT dev)
install(DIRECTORY examples/own_environment DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT dev)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/agentr")
install(EXPORT agentr FILE agentrTargets.cmake DESTINATION "${package}" COMPONENT dev)
configure_package_config_file(packaging/agentrConfig.cmake.in
  "${PROJECT_BINARY_DIR}/agentrConfig.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/agentrConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/agentrConfig.cmake"
              "${PROJECT_BINARY_DIR}/agentrConfigVersion.cmake"
        DESTINATION "${package}" COMPONENT dev)

# cpack -G DEB needs dpkg-dev, whose dpkg-shlibdeps finds the packages of the shared libraries, and
# file, by which CPack knows programs and libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME agentr)
set(CPACK_PACKAGE_CONTACT "the authors of agentr <agentr@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_ALL programs dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME agentr)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
# LibTorch works with any BLAS; this one runs in the threads of LibTorch.
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS libopenblas0-openmp)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS default-jre-headless)
set(CPACK_DEBIAN_PROGRAMS_DESCRIPTION "Self-reflection data and training for language-model agents")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME agentr-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_DESCRIPTION "Search, playing and language models of agentr for other programs")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "agentr (= ${PROJECT_VERSION}), libtbb-dev, libfmt-dev, libspdlog-dev, nlohmann-json3-dev, libcli11-dev, libcpp-httplib-dev, libexpected-dev, libssl-dev, libicu-dev, libpcre2-dev, libpq-dev, libtomlplusplus-dev, zlib1g-dev")
include(CPack)
