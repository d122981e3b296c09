import OpenCombine

/// What an error of FileMaker's leaves open of a request, and the file itself can tell: which field, which layout, which script.
///
/// Each kind is a value made of the error and the request, or `nil` when there is nothing to tell. It has one question to the file,
/// which ``LayoutMemory`` asks once for all who have it.
protocol Suspicion {
    /// What the file has to be asked.
    var question: FileQuestion { get }

    /// The error, with what comes of comparing the request with the answer.
    func explained(by answer: FileAnswer) -> FMRest.APIError

    /// The error as it is when the file is not asked, or does not answer.
    var unexplained: FMRest.APIError { get }
}

/// What a file can be asked about itself.
enum FileQuestion: Hashable, Sendable {
    /// What does this layout hold?
    case layout(String)
    /// Which layouts does the account see?
    case layoutNames
    /// Which scripts does the account see?
    case scriptNames
}

/// What a file answers to a ``FileQuestion``.
enum FileAnswer: Sendable {
    case layout(DataAPI.Layout.LayoutMetaData)
    /// Those in folders are among them.
    case names([String])
}

extension DataAPI.Database {
    /// Fails with an error that says what in the request it is about, where FileMaker's does not: the file is asked, unless the
    /// answer is known or the configuration forbids it, in the same sessions. Without an answer the error says what it can.
    func explaining<Response, Value>(
        _ error: FMRest.APIError,
        of request: DataAPIRequest<Response>,
        _ call: CallContext
    ) -> AnyPublisher<Value, FMRest.APIError> {
        guard let suspicion = suspicion(error, about: request) else { return .failing(error) }
        guard server.config.explainsErrors else { return .failing(suspicion.unexplained) }
        return answer(to: suspicion.question, call)
            .map { answer in answer.map(suspicion.explained) ?? suspicion.unexplained }
            .setFailureType(to: FMRest.APIError.self)
            .flatMap { Fail(error: $0) }
            .eraseToAnyPublisher()
    }

    /// What the file answers, which is asked unless it is known, in the same sessions and in the time of the call.
    func answer(to question: FileQuestion, _ call: CallContext) -> AnyPublisher<FileAnswer?, Never> {
        let deadline = call.clock?.deadline(from: server.time.now())
        let memory = (call.options.tenure ?? tenure).layouts
        return memory.answer(to: question, for: original, by: deadline) { self.asked(question, call) }
    }

    private func suspicion<Response>(
        _ error: FMRest.APIError,
        about request: DataAPIRequest<Response>
    ) -> (any Suspicion)? {
        if let suspicion = FieldSuspicion(error, about: request) { return suspicion }
        return NameSuspicion(error, about: request, in: name)
    }

    private func asked(_ question: FileQuestion, _ call: CallContext) -> AnyPublisher<FileAnswer, FMRest.APIError> {
        let calls = call.changed {
            // Nothing waits long for such an answer, nor for a description of what came of asking.
            $0.retryPolicy = nil
            $0.isExplanation = true
        }
        let database = DataAPI.Database(self, calls: calls)
        return switch question {
        case .layout(let name):
            database.addLayout(name).getLayoutMetadata(isolation: nil).map(FileAnswer.layout).eraseToAnyPublisher()
        case .layoutNames:
            database.perform { .layoutNames(in: database.name) }.map { .names($0.names) }.eraseToAnyPublisher()
        case .scriptNames:
            database.perform { .scriptNames(in: database.name) }.map { .names($0.names) }.eraseToAnyPublisher()
        }
    }
}

extension FMRest.APIError {
    /// Goes on with what is known besides.
    mutating func add(_ sentence: String) {
        reason += (reason.hasSuffix(".") ? " " : ": ") + sentence
    }
}
