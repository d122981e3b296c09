@preconcurrency import Foundation

/// The host that the samples use.
public let serverAddress = ProcessInfo.processInfo.environment["SAMPLES_SERVER"] ?? ""

/// The socket of the store that the samples of fleets use.
public let storeSocket = ProcessInfo.processInfo.environment["SAMPLES_STORE"] ?? ""

/// Makes the output available line by line, since the test waits for its lines.
public func beReadLineByLine() {
    setvbuf(stdout, nil, _IOLBF, 0)
}

/// Whether the document runs the code that it calls wrong, to show what Swift does with it. Other runs skip that code.
public let doesWrong = ProcessInfo.processInfo.environment["SAMPLES_DO_WRONG"] != nil

/// Called after the last line of a document. Prints that the line was reached, and keeps running work alive until the
/// test has read all claimed lines and closes standard input. The program then ends normally.
public func endSample() async {
    print("the end of the sample")
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            while readLine() != nil {}
            continuation.resume()
        }
    }
}

/// Ends a program after its document has ended.
public func endProgram() -> Never { exit(0) }

/// Ends a program that was called with the name of a document that does not exist.
public func failWithoutDocument() -> Never { exit(1) }
