// Nothing stands here: before each build, the plugin FMModelBuild makes the models of this target out of its folder
// FileMaker. FMModelTests decode with them.
