extension DataAPI {
    /// The progress of an upload or a download.
    public struct TransferProgress: Hashable, Sendable {
        /// Bytes of the file so far: passed to the connection, or received from it.
        public var completedBytes: Int
        /// Bytes of the whole file; `nil` as long as the server has not announced the size.
        public var totalBytes: Int?

        /// A progress; `totalBytes` is `nil` while the size is unknown.
        public init(completedBytes: Int, totalBytes: Int?) {
            self.completedBytes = completedBytes
            self.totalBytes = totalBytes
        }

        /// The completed part, from 0 to 1; `nil` while the size is unknown.
        public var fraction: Double? {
            guard let totalBytes else { return nil }
            return totalBytes > 0 ? min(1, Double(completedBytes) / Double(totalBytes)) : 1
        }
    }

    /// Receives the progress of a transfer: at its start and after every chunk, one call after the other, all before
    /// the result of the transfer. An upload that is sent again in a fresh session starts at 0 again.
    ///
    /// It is called on the thread that moves the bytes, and the transfer waits for it: where ``Config/delivery`` says
    /// for a download to memory, on the thread of the publisher for an upload from a publisher, and on a queue of this
    /// one transfer for all others.
    public typealias ProgressObserver = @Sendable (TransferProgress) -> Void
}
