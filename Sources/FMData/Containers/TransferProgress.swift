extension DataAPI {
    /// How far an upload or a download has come.
    public struct TransferProgress: Hashable, Sendable {
        /// Bytes of the file so far: handed to the connection, or received from it.
        public var completedBytes: Int
        /// Bytes of the whole file; `nil` while a server has not said how many there are.
        public var totalBytes: Int?

        /// Progress; `totalBytes` is `nil` while the size is not known.
        public init(completedBytes: Int, totalBytes: Int?) {
            self.completedBytes = completedBytes
            self.totalBytes = totalBytes
        }

        /// The part that is done, from 0 to 1; `nil` while the whole is not known.
        public var fraction: Double? {
            guard let totalBytes else { return nil }
            return totalBytes > 0 ? min(1, Double(completedBytes) / Double(totalBytes)) : 1
        }
    }

    /// Is told how far a transfer has come: at its start, after every chunk, one call after the other. Every call comes
    /// before the result of the transfer. An upload that is sent again in a fresh session starts over at 0.
    ///
    /// It is called on the thread that moves the bytes, and the transfer waits for it: where ``Config/delivery`` says for a
    /// download to memory, where its publisher publishes for an upload from a publisher, on a queue of this one transfer
    /// for all others.
    public typealias ProgressObserver = @Sendable (TransferProgress) -> Void
}
