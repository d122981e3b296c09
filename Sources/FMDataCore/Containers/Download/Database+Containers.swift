import OpenCombine

extension DataAPI.Database {
    /// A download of the content that a container reference names.
    ///
    ///     database.download(vessel.photo).toFile(at: "/srv/photos/bow.jpg")
    ///
    /// A reference is bound to the session that its record was read in. A free session is tried first; when the server
    /// does not return the content to it, the tokens of the database's other open sessions are tried, the last used
    /// first, with a request each. So a reference can be used as long as the session that read it is open: until that
    /// session has been idle for a minute while others are in use. After that the
    /// download fails with ``DataAPI/ContainerError/Code/stale``. For a record that was read some time ago
    /// ``DataAPI/Layout/downloadContainer(fieldName:recordId:repetition:isolation:)`` reads the reference again, and
    /// ``withSession(keptAlive:isolation:_:)`` keeps one session for reading and downloading.
    ///
    /// Fails with ``FMRest/APIError/Code/container`` before anything is sent when the reference is empty, the path of a
    /// file, or not the URL of a container on this server.
    ///
    /// Source: Claris Data API guide, "Work with container data".
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    public func download(
        _ reference: DataAPI.ContainerReference,
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.ContainerDownload {
        DataAPI.ContainerDownload(for: isolation, from: self) { database in
            do {
                let machine = try database.server.downloadMachine(for: reference)
                return database.openContainer(triesOtherSessions: true) { _, _ in
                    Just(machine).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                }
            } catch {
                return Fail(error: FMRest.APIError(wrapping: error)).eraseToAnyPublisher()
            }
        }
    }

    /// Opens the content in one of the database's sessions, which is free again when the content begins.
    ///
    /// - Parameters:
    ///   - triesOtherSessions: whether the content may belong to another session than the leased one.
    ///   - locate: publishes where the content is. It gets the token, and the context for a request that it may have to
    ///     send.
    func openContainer(
        triesOtherSessions: Bool = false,
        locate:
            @escaping (SessionToken, CallContext) -> AnyPublisher<ContainerDownloadStateMachine, FMRest.APIError>
    ) -> AnyPublisher<OpenedContainer, FMRest.APIError> {
        Deferred {
            let call = self.calls.ofOneCall(in: self.accountPeriod)
            return self.server.retrying(
                in: call,
                log: { self.server.contentLog(call.next(at: self.server.time.now())) }
            ) {
                self.inSession(isRepeatable: true, call: call) { token in
                    ContainerOpening(
                        server: self.server,
                        token: token,
                        otherTokens: { triesOtherSessions ? self.pool.openTokens.filter { $0 != token } : [] },
                        location: locate(token, call),
                        context: { call.next(at: self.server.time.now()) }
                    )
                    .eraseToAnyPublisher()
                }
            }
        }
        .eraseToAnyPublisher()
    }
}

extension DataAPI.Server {
    /// The log of fetching content from this server; `nil` when nothing would be logged.
    fileprivate func contentLog(_ context: RequestContext) -> CallLog? {
        (try? origin.get()).flatMap { callLog(ofContentFrom: $0, context) }
    }

    /// Returns the state machine that fetches the content of a reference; throws when the reference names no content.
    func downloadMachine(for reference: DataAPI.ContainerReference) throws -> ContainerDownloadStateMachine {
        switch reference {
        case .url(let url):
            try ContainerDownloadStateMachine(
                url: url,
                server: try origin.get(),
                allowsForeignOrigins: config.allowsForeignContainers
            )
        case .empty: throw DataAPI.ContainerError(.empty)
        case .fileReference: throw DataAPI.ContainerError(.fileReference)
        case .text: throw DataAPI.ContainerError(.notAURL)
        }
    }
}
