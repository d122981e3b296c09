// Nothing is written here by hand: before each build the samples become a main.swift, see `SamplesPlugin`.
