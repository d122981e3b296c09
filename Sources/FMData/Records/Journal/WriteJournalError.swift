import Foundation

extension DataAPI {
    /// Why a journal cannot be used: `underlying` of an error with the code ``FMRest/APIError/Code/journal``. Nothing
    /// is sent then.
    public struct WriteJournalError: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong. More may come: a `switch` over it needs a `default`.
        public struct Reason: Error, Hashable, Sendable, CustomStringConvertible {
            /// The reason in a few words.
            public let description: String

            private init(_ description: String) {
                self.description = description
            }

            /// A line is not what was written there.
            public static let damaged = Reason("it is damaged")
            /// What is there is no journal.
            public static let notAJournal = Reason("it is no journal")
            /// It was written by a later version of this library.
            public static let otherVersion = Reason("it has a format of a later version")
            /// It is that of other writes: for another host, database or layout.
            public static let foreign = Reason("it belongs to other writes")
            /// Another run has it open, in this process or in another one.
            public static let inUse = Reason("another run has it open")
            /// It has rows that the input has not.
            public static let inputIsShorter = Reason("it knows of more rows than came")
            /// It could not be read or written.
            public static let storage = Reason("it could not be read or written")
        }

        /// What is wrong.
        public var reason: Reason
        /// The line that is damaged, counted from 0.
        public var line: Int?
        /// What it is about beyond that: which writes a foreign journal is for, how many rows are missing, which file
        /// it is.
        public var detail: String?
        /// The system's error number, where the system has refused.
        public var errorNumber: Int32?

        /// A value of your own making, for journals of your own.
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
