import FMData
import OpenCombine

/// A server with its harbours. What fails is replaced here, for each server by itself, so that the other one goes on.
struct Coast {
    let name: String
    let harbours: [Harbour]
    private let server: DataAPI.Server

    init(_ name: String, host: String, harbours names: [String], credentials: Credentials) {
        self.name = name
        var config = DataAPI.Config()
        // A server that is down is noticed soon.
        config.timeouts.connect = .seconds(2)
        let server = DataAPI.Server(host: host, config: config)
        self.server = server
        harbours = names.map { Harbour($0, on: server, credentials: credentials) }
    }

    /// The quays of all harbours, whenever one of them changes.
    var quays: AnyPublisher<[Quay], Never> {
        harbours.map(\.quay).combineLatest().replaceError(with: []).eraseToAnyPublisher()
    }

    /// What happens in any of the harbours.
    var news: AnyPublisher<String, Never> {
        harbours.map(\.news).merge()
            .catch { error in Just("The \(name) tells nothing any more: \(error.code)") }
            .eraseToAnyPublisher()
    }

    /// The ships with this text in their names in all harbours, or one line that says why there are none.
    func search(_ text: String) -> AnyPublisher<[String], Never> {
        harbours.map { $0.search(text) }.merge()
            .collect()
            .map { found in found.flatMap(\.self).sorted() }
            .catch { error in Just(["The \(name) does not answer (\(error.code))"]) }
            .eraseToAnyPublisher()
    }

    /// Logs out of all harbours.
    func close() -> AnyPublisher<Never, Never> {
        server.shutdown().ignoreOutput().catch { _ in Empty() }.eraseToAnyPublisher()
    }
}
