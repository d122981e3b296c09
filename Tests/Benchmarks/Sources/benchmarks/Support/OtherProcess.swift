import Foundation

/// Another process of this program, so that its processor time and memory do not count as this one's. Both talk in
/// lines; the end of its input ends it.
final class OtherProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts it.
    init(_ arguments: [String]) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func tell(_ line: String) { input.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

    /// Its next line.
    func line() -> String {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Its next line, as JSON.
    func answer<Answer: Decodable>() throws -> Answer { try JSONDecoder().decode(Answer.self, from: Data(line().utf8)) }

    /// Ends it, and returns when it has ended.
    func finish() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func killNow() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    // MARK: In the other process

    static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    static func say(_ answer: some Encodable) throws {
        say(String(decoding: try JSONEncoder().encode(answer), as: UTF8.self))
    }
}
