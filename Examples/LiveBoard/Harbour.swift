import FMData
import OpenCombine

/// A harbour: one database, and the live query of its ships that are in port.
struct Harbour {
    let name: String
    let inPort: DataAPI.LiveQuery<Ship>

    init(_ name: String, on server: DataAPI.Server) {
        self.name = name
        inPort = server.addDatabase(name, credentials: Credentials(user: Yard.user, password: Yard.password))
            .layout(Ship.self)
            .find { $0(.state) == "in port" }
            .sorted(by: .name)
            .live(DataAPI.LiveOptions(every: .milliseconds(100) ... .seconds(1)))
    }

    /// The events of the harbour: each change of its ships, and the loss and return of its connection.
    var events: AnyPublisher<BoardEvent, FMRest.APIError> {
        let changes = inPort.map { value in BoardEvent.ships(harbour: name, value) }
        return [changes.eraseToAnyPublisher(), reconnections.eraseToAnyPublisher()].merge()
    }

    /// An event when polls fail, and one when they succeed again.
    private var reconnections: AnyPublisher<BoardEvent, FMRest.APIError> {
        Deferred {
            var hasFailed = false
            return inPort.status.compactMap { status -> BoardEvent? in
                switch status.kind {
                case .failing:
                    defer { hasFailed = true }
                    return hasFailed ? nil : .lost(harbour: name)
                case .waiting:
                    defer { hasFailed = false }
                    return hasFailed ? .reconnected(harbour: name) : nil
                default: return nil
                }
            }
        }
        .setFailureType(to: FMRest.APIError.self)
        .eraseToAnyPublisher()
    }
}

enum BoardEvent: Sendable {
    case ships(harbour: String, DataAPI.LiveValue<Ship>)
    case lost(harbour: String)
    case reconnected(harbour: String)
}
