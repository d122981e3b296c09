import LibFuzzer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Coverage-guided fuzzing of what reads a server's bytes. `--decoder`, `--response-parser` or `--inflater` says which reader;
/// libFuzzer passes over arguments with two dashes, and takes the others. `Tests/Fuzz/run` builds and runs this.
@main
enum Fuzz {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        let readers = CommandLine.arguments.filter { $0.hasPrefix("--") }
        switch readers {
        case ["--decoder"]:
            exit(
                LLVMFuzzerRunDriver(&count, &arguments) { start, count in
                    DecoderFuzz.test(UnsafeRawBufferPointer(start: start, count: count))
                    return 0
                }
            )
        case ["--response-parser"]:
            exit(
                LLVMFuzzerRunDriver(&count, &arguments) { start, count in
                    ResponseParserFuzz.test(UnsafeRawBufferPointer(start: start, count: count))
                    return 0
                }
            )
        case ["--inflater"]:
            exit(
                LLVMFuzzerRunDriver(&count, &arguments) { start, count in
                    InflaterFuzz.test(UnsafeRawBufferPointer(start: start, count: count))
                    return 0
                }
            )
        default:
            print("--decoder, --response-parser or --inflater?")
            exit(64)
        }
    }
}
