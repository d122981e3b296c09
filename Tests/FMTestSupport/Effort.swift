import Foundation
public import Testing

/// The effort of tests.
///
/// `swift test` makes those that are quick, and of seeds, places and sizes it tries a few, since a person waits for it.
/// With `FMDATA_THOROUGH=1` in the environment, which `.ci/run` sets, every test is made, and tries all of them.
public enum Effort {
    /// Whether the environment asks for the full effort.
    public static let isThorough = ProcessInfo.processInfo.environment["FMDATA_THOROUGH"] == "1"

    /// A number of seeds, places or rows.
    public static func of(_ thorough: Int, brief: Int) -> Int { isThorough ? thorough : brief }

    /// The places before `end` to try: every one, or in a brief run every `step`th and the last.
    public static func places(before end: Int, brief step: Int) -> [Int] {
        guard !isThorough else { return Array(0..<end) }
        return stride(from: 0, to: end - 1, by: step) + [end - 1].filter { $0 >= 0 }
    }
}

extension Trait where Self == ConditionTrait {
    /// Leaves a test out of a brief run, since it takes half a second or more of a processor: it starts processes,
    /// reads thousands of records, or goes through worlds.
    public static var thorough: Self { .enabled(if: Effort.isThorough, "It takes long. FMDATA_THOROUGH=1 makes it.") }
}
