import Foundation

/// How much a test tries that goes through seeds, places or sizes.
///
/// `swift test` is what a person waits for, so it tries a few of each. With `FMDATA_THOROUGH=1` in the environment, as `.ci/run` sets
/// it, every test tries all that it can.
public enum Effort {
    /// Whether the environment asks for all of it.
    public static let isThorough = ProcessInfo.processInfo.environment["FMDATA_THOROUGH"] == "1"

    /// A number of seeds, places or rows.
    public static func of(_ thorough: Int, brief: Int) -> Int { isThorough ? thorough : brief }

    /// The places before `end` that are tried: every one, or in a brief run every `step`th and the last.
    public static func places(before end: Int, brief step: Int) -> [Int] {
        guard !isThorough else { return Array(0..<end) }
        return stride(from: 0, to: end - 1, by: step) + [end - 1].filter { $0 >= 0 }
    }
}
