import FMData
import OpenCombine

/// A harbour: one database. All code that knows FileMaker is in here.
struct Harbour {
    let name: String
    private let ships: DataAPI.TypedLayout<Ship>
    private let inPort: DataAPI.LiveQuery<Ship>

    init(_ name: String, on server: DataAPI.Server, credentials: Credentials) {
        self.name = name
        ships = server.addDatabase(name, credentials: credentials).layout(Ship.self)
        inPort =
            ships
            .find { $0(.state) == "in port" }
            .sorted(by: .name)
            .live(DataAPI.LiveOptions(every: .milliseconds(100) ... .seconds(1)))
    }

    /// The ships in port, again with each change, and when the server falls silent or speaks again.
    var quay: AnyPublisher<Quay, FMRest.APIError> {
        inPort
            .map { value in value.records.map(\.fieldData) }
            .combineLatest(answers.setFailureType(to: FMRest.APIError.self)) { ships, answers in
                Quay(harbour: name, ships: ships, isCurrent: answers)
            }
    }

    /// What happens in port, a line for each event. It comes from the same polls as ``quay``.
    var news: AnyPublisher<String, FMRest.APIError> {
        inPort
            .flatMap { value in
                let changes = value.freshness.origin == .snapshot ? nil : value.changes
                let arrived = changes?.inserted.map { "\($0.fieldData.name) has arrived" } ?? []
                let moved =
                    changes?.updated.map { "\($0.record.fieldData.name) is at \($0.record.fieldData.berth) now" } ?? []
                let gone = changes?.removed.map { "\($0.record?.fieldData.name ?? "A ship") has left" } ?? []
                return (arrived + moved + gone).publisher.setFailureType(to: FMRest.APIError.self)
            }
            .map { event in "\(name): \(event)" }
            .eraseToAnyPublisher()
    }

    /// The first ships with this text in their names.
    func search(_ text: String) -> AnyPublisher<[String], FMRest.APIError> {
        ships
            .find { $0(.name).contains(text) }
            .sorted(by: .name)
            .page(limit: 5)
            .map { page in page.data.map { "\($0.fieldData.name) in \(name), \($0.fieldData.state)" } }
            .eraseToAnyPublisher()
    }

    private var answers: AnyPublisher<Bool, Never> {
        inPort.status
            .compactMap { status in
                switch status.kind {
                case .failing: false
                case .waiting: true
                default: nil
                }
            }
            .prepend(true)
            .removeDuplicates()
            .eraseToAnyPublisher()
    }
}
