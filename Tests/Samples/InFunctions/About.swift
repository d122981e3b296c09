// Nothing is written here by hand: before each build the samples become functions, see `SamplesPlugin`.
