// This target has no hand-written code: before each build its samples become a main.swift, see `SamplesPlugin`.
