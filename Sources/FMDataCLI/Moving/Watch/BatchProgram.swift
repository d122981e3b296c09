import Foundation

/// A program that takes a batch of changes.
enum BatchProgram {
    /// Runs the program with a text on its standard input. Throws if it does not end with status 0. A cancelled task
    /// ends it by SIGTERM.
    static func run(_ words: [String], input: Data) async throws {
        guard let name = words.first else { return }
        let pipe = try ChildProgram.pipe()
        let program: ChildProgram
        do {
            defer { close(pipe.reading) }
            program = try ChildProgram(words, input: pipe.reading)
        } catch {
            close(pipe.writing)
            throw CommandError("\(name) cannot be started: \(String(cString: strerror(error.code.rawValue))).")
        }
        Thread.detachNewThread {
            // A program may end without reading everything.
            let end = FileHandle(fileDescriptor: pipe.writing, closeOnDealloc: true)
            try? end.write(contentsOf: input)
            try? end.close()
        }
        let status = await withTaskCancellationHandler {
            await program.end()
        } onCancel: {
            program.terminate()
        }
        try Task.checkCancellation()
        guard status == 0 else {
            throw CommandError("\(name) ended with status \(status). Its changes come again in the next run.")
        }
    }
}
