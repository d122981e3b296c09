import LibFuzzer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Coverage-guided fuzzing of the code that reads foreign bytes. An argument of two dashes and a reader's name selects
/// the reader, such as `--decoder`; libFuzzer ignores it and uses the other arguments. `Tests/Fuzz/run` builds and runs
/// this.
///
/// Each reader has a folder of the same name in `Corpus` and a dictionary beside it. Its `test` ends the program when a
/// check fails.
@main
enum Fuzz {
    private static let readers: [String: @Sendable (UnsafeRawBufferPointer) -> Void] = [
        "cookies": CookieFuzz.test,
        "decoder": DecoderFuzz.test,
        "headers": HeaderFuzz.test,
        "inflater": InflaterFuzz.test,
        "journal": JournalFuzz.test,
        "resp": RESPFuzz.test,
        "response-parser": ResponseParserFuzz.test,
        "urls": URLFuzz.test,
        "webhooks": WebhookFuzz.test,
    ]

    /// A static property, since the function that libFuzzer calls can capture nothing.
    private static let reader = CommandLine.arguments.dropFirst().lazy.compactMap { readers[String($0.dropFirst(2))] }
        .first

    static func main() {
        guard reader != nil else {
            print("Which reader? --" + readers.keys.sorted().joined(separator: ", --"))
            exit(64)
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { start, count in
                Fuzz.reader?(UnsafeRawBufferPointer(start: start, count: count))
                return 0
            }
        )
    }
}

/// The lines of an input as texts, like headers, URLs and paths that the library receives.
func lines(_ input: UnsafeRawBufferPointer) -> [String] {
    input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
    }
}

/// Ends the program when the condition is false; libFuzzer then writes the input to a file.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fatalError(message()) }
}
