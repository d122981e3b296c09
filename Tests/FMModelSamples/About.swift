// Nothing stands here: the plugin FMModelBuild makes the models of this target out of its folder FileMaker, before each build.
// FMModelTests decodes with them.
