public import Foundation
public import OpenCombine

extension DataAPI {
    /// The content of a container, to be downloaded: a publisher of its bytes, with methods for memory and files.
    ///
    ///     let photo = contacts.downloadContainer(fieldName: "Photo", recordId: 17)
    ///
    ///     photo.toMemory(upTo: 10_000_000)            // one value: bytes, name, type
    ///     photo.toFile(at: "/srv/photos/17.jpg")      // one value, when the file is there as a whole
    ///     photo.parts                                 // name, type and length, then the bytes
    ///     photo                                       // the bytes
    ///
    /// Each subscription is one download. The publisher itself publishes the bytes in order, one chunk per unit of
    /// demand, then finishes. Demand reaches back to the socket: without demand nothing is read, and the server has to
    /// wait. Chunks arrive where ``Config/delivery`` says. The session is leased until the content begins, and free
    /// while it is transferred.
    ///
    /// If the connection breaks, the rest of the same version is requested with the next demand, provided that the host
    /// supports it (`Range`, `If-Range`): no byte is lost, repeated or of another version. Otherwise the download fails
    /// with ``FMRest/APIError/Code/network``.
    ///
    /// If the session has ended on the server, the content is requested once more in a fresh session. The token is sent
    /// to the server's own origin only, and each download has its own cookies.
    ///
    /// Fails with ``FMRest/APIError/Code/container`` when there is no content to download;
    /// ``FMRest/APIError/containerError`` says why.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    ///
    /// Source: Claris Data API guide, "Work with container data".
    public struct ContainerDownload: Publisher, Sendable {
        /// A chunk of the content.
        public typealias Output = Data
        /// The type of its errors.
        public typealias Failure = FMRest.APIError

        /// The actor on which values are delivered.
        let isolation: (any Actor)?
        let database: Database
        /// Finds the content, by way of a database that is bound to an account.
        let open: @Sendable (Database) -> AnyPublisher<OpenedContainer, FMRest.APIError>

        /// Attaches the subscriber. Nothing is sent before demand.
        public func receive<Downstream: Subscriber<Data, FMRest.APIError>>(subscriber: Downstream) {
            parts.compactMap(\.bytes).receive(subscriber: subscriber)
        }

        /// Publishes the content's name, type and length as far as the server announces them, then its bytes.
        ///
        /// It works like the publisher itself, with one more value before the bytes. The number of bytes is not
        /// limited.
        ///
        /// - Note: Many values, as they are asked for. See <doc:Calls>.
        public var parts: AnyPublisher<ContainerPart, FMRest.APIError> {
            arrivingParts.delivered(on: isolation, by: database)
        }

        /// The parts on the thread on which they arrive, for other publishers of this library.
        var arrivingParts: AnyPublisher<ContainerPart, FMRest.APIError> {
            database.asOneAccount { accountPeriod in
                ContainerParts(opening: open(database.bound(to: accountPeriod))).eraseToAnyPublisher()
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

extension DataAPI.ContainerDownload {
    /// Downloads the whole content to memory.
    ///
    /// Fails with ``FMRest/APIError/Code/responseTooLarge`` as soon as more than `maximumBytes` are announced or
    /// received.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - maximumBytes: The largest number of bytes to accept. The default is 256 MB.
    ///   - onProgress: Called with the progress of the download.
    public func toMemory(
        upTo maximumBytes: Int = 256 << 20,
        onProgress: DataAPI.ProgressObserver? = nil
    ) -> AnyPublisher<DataAPI.ContainerContent, FMRest.APIError> {
        OnDemandPublisher {
            arrivingParts.tryReduce(Collector(maximumBytes: maximumBytes, onProgress: onProgress)) { collector, part in
                try collector.take(part)
                return collector
            }
            .map { $0.content }
            .mapError(FMRest.APIError.init(wrapping:))
            .eraseToAnyPublisher()
        }
        .delivered(on: isolation, by: database)
    }
}

/// Collects the parts of one download.
private final class Collector {
    /// The most memory that is reserved for an announced length before the bytes arrive.
    private static var maximumReservation: Int { 4 << 20 }

    private let maximumBytes: Int
    private let report: ProgressReport
    private var head = DataAPI.ContainerHead()
    private var data = Data()

    init(maximumBytes: Int, onProgress: DataAPI.ProgressObserver?) {
        self.maximumBytes = maximumBytes
        report = ProgressReport(onProgress)
    }

    func take(_ part: DataAPI.ContainerPart) throws(FMRest.APIError) {
        switch part {
        case .head(let head):
            try check(head.byteCount ?? 0)
            self.head = head
            data.reserveCapacity(min(head.byteCount ?? 0, Self.maximumReservation))
        case .bytes(let bytes):
            try check(data.count + bytes.count)
            data.append(bytes)
        }
        report.took(part)
    }

    private func check(_ byteCount: Int) throws(FMRest.APIError) {
        guard byteCount <= maximumBytes else {
            throw FMRest.APIError(
                .responseTooLarge,
                reason: "The container holds more than \(maximumBytes) bytes.",
                hint: "Allow more with toMemory(upTo:), or use toFile(at:)."
            )
        }
    }

    var content: DataAPI.ContainerContent {
        DataAPI.ContainerContent(data: data, fileName: head.fileName, mimeType: head.mimeType)
    }
}

/// Counts the bytes of one download and calls the observer. Used by one thread at a time.
final class ProgressReport {
    private let observer: DataAPI.ProgressObserver?
    private(set) var progress = DataAPI.TransferProgress(completedBytes: 0, totalBytes: nil)

    init(_ observer: DataAPI.ProgressObserver?) {
        self.observer = observer
    }

    func took(_ part: DataAPI.ContainerPart) {
        switch part {
        case .head(let head): progress.totalBytes = head.byteCount
        case .bytes(let bytes): progress.completedBytes += bytes.count
        }
        observer?(progress)
    }
}
