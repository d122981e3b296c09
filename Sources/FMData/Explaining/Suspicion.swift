/// The part of a FileMaker error that FileMaker leaves open and the file itself can answer: which field, which layout,
/// which script.
///
/// Each kind is a value created from the error and the request; `nil` when there is nothing to find out. It has one
/// question to the file, which ``LayoutMemory`` sends once for all calls that have it.
protocol Suspicion {
    /// The question to the file.
    var question: FileQuestion { get }

    /// The error, with the result of comparing the request with the answer.
    func explained(by answer: FileAnswer) -> FMRest.APIError

    /// The error when the file is not asked, or does not answer.
    var unexplained: FMRest.APIError { get }
}

/// The questions that a file can answer about itself.
enum FileQuestion: Hashable, Sendable {
    /// The fields and portals of a layout.
    case layout(String)
    /// The names of the layouts that the account sees.
    case layoutNames
    /// The names of the scripts that the account sees.
    case scriptNames
}

/// The answer of a file to a ``FileQuestion``.
enum FileAnswer: Sendable {
    case layout(DataAPI.Layout.LayoutMetaData)
    /// The names, including those in folders.
    case names([String])
}

extension FMRest.APIError {
    /// Adds a sentence to the reason.
    mutating func add(_ sentence: String) {
        reason += (reason.hasSuffix(".") ? " " : ": ") + sentence
    }
}
