import OpenCombine

extension DataAPI.Database {
    /// Fails with an error that names what in the request is at fault, when FileMaker's error does not. The file is
    /// asked in the same sessions, unless the answer is cached or the configuration forbids it. Without an answer the
    /// error says what the request alone shows.
    func explaining<Response, Value>(
        _ error: FMRest.APIError,
        of request: DataAPIRequest<Response>,
        _ call: CallContext
    ) -> AnyPublisher<Value, FMRest.APIError> {
        guard request.layout != nil, !call.options.isExplanation, let suspicion = suspicion(error, about: request)
        else { return .failing(error) }
        guard server.config.explainsErrors else { return .failing(suspicion.unexplained) }
        return answer(to: suspicion.question, call)
            .map { answer in answer.map(suspicion.explained) ?? suspicion.unexplained }
            .setFailureType(to: FMRest.APIError.self)
            .flatMap { Fail(error: $0) }
            .eraseToAnyPublisher()
    }

    /// Publishes the file's answer, from the cache or by a request in the same sessions and in the time of the call;
    /// `nil` without one.
    func answer(to question: FileQuestion, _ call: CallContext) -> AnyPublisher<FileAnswer?, Never> {
        let deadline = call.clock?.deadline(from: server.time.now())
        let memory = (call.options.accountPeriod ?? accountPeriod).layoutMemory
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
            // Without retries, so that no call waits long for the answer; its own errors are not explained.
            $0.retryPolicy = nil
            $0.isExplanation = true
        }
        let database = DataAPI.Database(self, calls: calls)
        return switch question {
        case .layout(let name):
            database.addLayout(name).getLayoutMetadata(isolation: .insideACall).map(FileAnswer.layout)
                .eraseToAnyPublisher()
        case .layoutNames:
            database.perform { .layoutNames(in: database.name) }.map { .names($0.names) }.eraseToAnyPublisher()
        case .scriptNames:
            database.perform { .scriptNames(in: database.name) }.map { .names($0.names) }.eraseToAnyPublisher()
        }
    }
}
