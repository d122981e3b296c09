// Servers are in a target of their own, so that `Tests/Benchmarks` gets them without CustomDump and Testing.
@_exported public import FMTestHost
