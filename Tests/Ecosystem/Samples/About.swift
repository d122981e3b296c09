// `SamplesPlugin` writes the program: the samples of the articles of FMData that need traits.
