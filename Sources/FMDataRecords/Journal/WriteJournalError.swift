public import FMDataCore
public import Foundation

extension DataAPI {
    /// Why a journal cannot be used: the `underlying` error of an error with the code ``FMRest/APIError/Code/journal``.
    /// Nothing is sent then.
    public struct WriteJournalError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kind of error. More may be added: a `switch` over it needs a `default`.
        public struct Reason: Error, Hashable, Sendable, CustomStringConvertible {
            /// The reason in a few words.
            public let description: String

            private init(_ description: String) {
                self.description = description
            }

            /// A line is not as it was written.
            public static let damaged = Reason("it is damaged")
            /// The file is not a journal.
            public static let notAJournal = Reason("it is no journal")
            /// The journal was written by a later version of this library.
            public static let otherVersion = Reason("it has a format of a later version")
            /// The journal belongs to other writes: for another host, database, layout or find.
            public static let foreign = Reason("it belongs to other writes")
            /// Another run has it open, in this process or in another one.
            public static let inUse = Reason("another run has it open")
            /// The journal has rows that the input does not have.
            public static let inputIsShorter = Reason("it knows of more rows than came")
            /// The journal could not be read or written.
            public static let storage = Reason("it could not be read or written")
        }

        /// The kind of error.
        public var reason: Reason
        /// The damaged line, counted from 0.
        public var line: Int?
        /// Further details: the writes that a foreign journal is for, the number of missing rows, or the file.
        public var detail: String?
        /// The system's error number, if a system call failed.
        public var errorNumber: Int32?

        /// Makes an error for a journal of your own.
        public init(_ reason: Reason, line: Int? = nil, detail: String? = nil, errorNumber: Int32? = nil) {
            self.reason = reason
            self.line = line
            self.detail = detail
            self.errorNumber = errorNumber
        }

        /// The reason, in a sentence without a field's value.
        public var description: String {
            "The journal cannot be used: \(reason)" + (line.map { " (line \($0))" } ?? "")
                + (detail.map { ": \($0)" } ?? "")
                + (errorNumber.map { " (\(String(cString: strerror($0))))" } ?? "") + "."
        }
    }
}

extension FMRest.APIError {
    init(_ error: DataAPI.WriteJournalError) {
        let hint: String? =
            switch error.reason {
            case .damaged:
                "Nothing can be told of rows behind the damage: look at what the host has before they are written again."
            case .foreign, .notAJournal: "One journal is for the rows of one job. Give each its own."
            case .inUse: "Wait for that run to end, or give this one a journal of its own."
            case .inputIsShorter: "Resume with all of the rows that the journal was begun with."
            default: nil
            }
        self.init(.journal, reason: "\(error)", hint: hint, underlying: error)
    }
}

extension DataAPI.WriteJournalError: APIErrorConvertible {
    package var apiError: FMRest.APIError { FMRest.APIError(self) }
}

extension DataAPI.WriteJournalError: LocalizedError {
    /// What is wrong with the journal, without a field's value.
    public var errorDescription: String? { description }

    /// What to do about it, where the library knows.
    public var recoverySuggestion: String? { FMRest.APIError(self).hint }
}

extension DataAPI.WriteJournalError.Reason: LocalizedError {
    /// The reason in a few words.
    public var errorDescription: String? { description }
}
