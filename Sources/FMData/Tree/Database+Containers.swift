import OpenCombine

extension DataAPI.Database {
    /// The content that a container field refers to, still to be fetched.
    ///
    ///     database.download(vessel.photo).toFile(at: "/srv/photos/bow.jpg")
    ///
    /// A reference is bound to the session that its record was read in. With one session (the default of
    /// ``DataAPI/SessionConfiguration/maximumSessions``) it is used in that one, as long as it lives; with more, or for a
    /// record that was read some time ago, ``DataAPI/Layout/downloadContainer(fieldName:recordId:repetition:)`` reads the
    /// reference anew, and ``withSession(_:)`` keeps one session for reading and downloading.
    ///
    /// Fails with ``FMRest/APIError/Code/container`` before anything is sent when the reference is empty, the path of a
    /// file, or not the URL of a container on this server.
    ///
    /// Source: Claris Data API guide, "Work with container data".
    public func download(
        _ reference: DataAPI.ContainerReference,
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.ContainerDownload {
        DataAPI.ContainerDownload(for: isolation, from: server) {
            do {
                let machine = try self.server.downloadMachine(for: reference)
                return self.openContainer { _ in
                    Just(machine).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                }
            } catch {
                return Fail(error: FMRest.APIError(wrapping: error)).eraseToAnyPublisher()
            }
        }
    }

    /// Finds the content in one of the database's sessions, which is free again when the content begins.
    ///
    /// - Parameter locate: where the content is, by a request with that token if need be.
    func openContainer(
        locate: @escaping (SessionToken) -> AnyPublisher<ContainerDownloadStateMachine, FMRest.APIError>
    ) -> AnyPublisher<OpenedContainer, FMRest.APIError> {
        inSession(isRepeatable: true) { token in
            ContainerOpening(server: self.server, token: token, location: locate(token))
                .eraseToAnyPublisher()
        }
    }
}

extension DataAPI.Server {
    /// How to fetch what a reference refers to, or why it cannot be.
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
