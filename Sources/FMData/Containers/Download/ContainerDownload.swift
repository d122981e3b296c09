public import Foundation
public import OpenCombine

extension DataAPI {
    /// The content of a container, still to be fetched: a publisher of its bytes, and a choice of where to put them.
    ///
    ///     let photo = contacts.downloadContainer(fieldName: "Photo", recordId: 17)
    ///
    ///     photo.toMemory(upTo: 10_000_000)            // one value: bytes, name, type
    ///     photo.toFile(at: "/srv/photos/17.jpg")      // one value, when the file is there as a whole
    ///     photo.parts                                 // name, type and length, then the bytes
    ///     photo                                       // the bytes
    ///
    /// Nothing is sent before demand; each subscription is one download. As a publisher it publishes the bytes in order,
    /// one chunk per unit of demand, then finishes. Demand reaches back to the socket: while nothing is asked for nothing
    /// is read, and the server has to wait. Chunks arrive where ``Config/delivery`` says; cancelling ends the exchange on
    /// the wire. The session is leased until the content begins, and free again while it flows.
    ///
    /// When the connection breaks, the rest of the same version is asked for as soon as more is wanted, where the host takes
    /// that (`Range`, `If-Range`): no byte is lost, repeated or of another version. Otherwise the download fails with
    /// ``FMRest/APIError/Code/network``.
    ///
    /// Content whose session died on the server is asked for once more with a fresh one. The token goes to the server's
    /// own origin only, and cookies live in a jar of this one download.
    ///
    /// Fails with ``FMRest/APIError/Code/container`` when there is no content to be had:
    /// ``FMRest/APIError/containerError`` says why.
    ///
    /// Source: Claris Data API guide, "Work with container data".
    public struct ContainerDownload: Publisher, Sendable {
        /// The next bytes.
        public typealias Output = Data
        /// Why there are no more.
        public typealias Failure = FMRest.APIError

        /// Where what it brings is handed over.
        let isolation: (any Actor)?
        let database: Database
        /// Finds the content, by a database that is bound to an account.
        let open: @Sendable (Database) -> AnyPublisher<OpenedContainer, FMRest.APIError>

        /// Attaches the subscriber. Nothing is asked for before it asks.
        public func receive<Downstream: Subscriber<Data, FMRest.APIError>>(subscriber: Downstream) {
            parts.compactMap(\.bytes).receive(subscriber: subscriber)
        }

        /// The content's name, type and length as far as the server tells, then its bytes.
        ///
        /// Like the publisher itself, with one value before the bytes. There is no limit to the number of bytes.
        public var parts: AnyPublisher<ContainerPart, FMRest.APIError> {
            arrivingParts.handedOver(to: isolation, by: database)
        }

        /// The parts where they arrive, for what is made of them in this library.
        var arrivingParts: AnyPublisher<ContainerPart, FMRest.APIError> {
            database.asOneAccount { tenure in
                ContainerParts(opening: open(database.bound(to: tenure))).eraseToAnyPublisher()
            }
        }

        init(
            for isolation: (any Actor)?,
            from database: Database,
            open: @escaping @Sendable (Database) -> AnyPublisher<OpenedContainer, FMRest.APIError>
        ) {
            self.isolation = isolation
            self.database = database
            self.open = open
        }
    }
}
