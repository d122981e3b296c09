@preconcurrency import Foundation

/// Stands for the host of the samples.
public let serverAddress = ProcessInfo.processInfo.environment["SAMPLES_SERVER"] ?? ""

/// Who reads the output waits for its lines.
public func beReadLineByLine() {
    setvbuf(stdout, nil, _IOLBF, 0)
}

/// Whether the document shows what Swift does with code that it calls wrong. Its other runs leave that code alone.
public let doesWrong = ProcessInfo.processInfo.environment["SAMPLES_DO_WRONG"] != nil

/// What stands behind the last line of a document: it says that the line was reached, and keeps what goes on by itself alive until
/// the test has read all that the document claims, and closes what is read here. The program then ends as every program does.
public func endSample() async {
    print("the end of the sample")
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            while readLine() != nil {}
            continuation.resume()
        }
    }
}

/// Ends a program whose document has ended.
public func endProgram() -> Never { exit(0) }

/// Ends a program that was asked for a document that is not there.
public func failWithoutDocument() -> Never { exit(1) }
