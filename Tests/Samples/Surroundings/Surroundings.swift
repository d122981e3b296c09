@preconcurrency import Foundation

/// Stands for the host of the samples.
public let serverAddress = ProcessInfo.processInfo.environment["SAMPLES_SERVER"] ?? ""

/// Who reads the output waits for its lines.
public func beReadLineByLine() {
    setvbuf(stdout, nil, _IOLBF, 0)
}

/// What keeps a program alive in this test: it is ended from outside, when it has printed what its document claims.
public func stayAlive() async {
    for await _ in AsyncStream<Never>.makeStream().stream {}
}
