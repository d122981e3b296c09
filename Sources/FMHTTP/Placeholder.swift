enum FMHTTPPlaceholder {}
