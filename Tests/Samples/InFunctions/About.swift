// This target has no hand-written code: before each build its samples become functions, see `SamplesPlugin`.
