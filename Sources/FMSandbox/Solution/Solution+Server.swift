package import Foundation

extension Solution {
    /// A solution's settings for the server that hosts it: the release to imitate, behaviour on which sources disagree,
    /// and settings of the host. ``Sandbox/Configuration`` overrides them. Two solutions of one sandbox must not have
    /// different values.
    package struct Server: Codable, Sendable, Equatable {
        /// The release to imitate. The default is ``Sandbox/ServerVersion/v22``.
        package var version: Sandbox.ServerVersion?
        /// The answer to a find whose offset lies past the end. The default is ``Sandbox/FindPastEnd/noRecordsMatch``.
        package var findPastEnd: Sandbox.FindPastEnd?
        /// Whether requests may write the names of layouts, fields, portals, scripts and value lists in any case. The
        /// default is false.
        package var ignoresNameCase: Bool?
        /// Whether the answer to creating a record with portal rows has `newPortalRecordInfo`, as the answer to an edit
        /// has. The default is false.
        package var newPortalRecordInfoOnCreate: Bool?
        /// The answer to calls that need a data source whose file lacks the session's account. The default is
        /// ``Sandbox/DataSourceWithoutAccount/emptyValues``.
        package var dataSourceWithoutAccount: Sandbox.DataSourceWithoutAccount?
        /// The character between date and time of ISO 8601 timestamps. The default is
        /// ``Sandbox/ISOTimestampSeparator/letter``.
        package var isoTimestampSeparator: Sandbox.ISOTimestampSeparator?
        /// The date formats that find criteria may use if the request's dates are in ISO 8601. The default is
        /// ``Sandbox/CriterionDates/usAndISO``.
        package var isoCriterionDates: Sandbox.CriterionDates?
        /// How the fields of portal rows are named. The default is ``Sandbox/PortalFieldNames/qualified``.
        package var portalFieldNames: Sandbox.PortalFieldNames?
        /// How containers are streamed. In JSON it is `openContainers`, true or false. The default is
        /// ``Sandbox/ContainerStreaming/authenticated``.
        package var containerStreaming: Sandbox.ContainerStreaming?
        /// The time zone of the host's wall clock, in JSON by name: `Europe/Berlin`. The default is UTC.
        package var timeZone: TimeZone?
        /// How long an idle session lives after its last request, in JSON as seconds. The default is 15 minutes.
        package var sessionLifetime: Duration?
        /// How long an idle connection stays open, in JSON as seconds. The default is 5 s.
        package var keepAlive: Duration?
        /// Whether bodies of 1 KB and more are compressed for clients that accept gzip. The default is true.
        package var compression: Bool?

        /// Creates the settings; nil leaves a setting to the default.
        package init(
            version: Sandbox.ServerVersion? = nil,
            findPastEnd: Sandbox.FindPastEnd? = nil,
            ignoresNameCase: Bool? = nil,
            newPortalRecordInfoOnCreate: Bool? = nil,
            dataSourceWithoutAccount: Sandbox.DataSourceWithoutAccount? = nil,
            isoTimestampSeparator: Sandbox.ISOTimestampSeparator? = nil,
            isoCriterionDates: Sandbox.CriterionDates? = nil,
            portalFieldNames: Sandbox.PortalFieldNames? = nil,
            containerStreaming: Sandbox.ContainerStreaming? = nil,
            timeZone: TimeZone? = nil,
            sessionLifetime: Duration? = nil,
            keepAlive: Duration? = nil,
            compression: Bool? = nil
        ) {
            self.version = version
            self.findPastEnd = findPastEnd
            self.ignoresNameCase = ignoresNameCase
            self.newPortalRecordInfoOnCreate = newPortalRecordInfoOnCreate
            self.dataSourceWithoutAccount = dataSourceWithoutAccount
            self.isoTimestampSeparator = isoTimestampSeparator
            self.isoCriterionDates = isoCriterionDates
            self.portalFieldNames = portalFieldNames
            self.containerStreaming = containerStreaming
            self.timeZone = timeZone
            self.sessionLifetime = sessionLifetime
            self.keepAlive = keepAlive
            self.compression = compression
        }

        enum CodingKeys: String, CodingKey, CaseIterable {
            case version, findPastEnd, ignoresNameCase, newPortalRecordInfoOnCreate, dataSourceWithoutAccount
            case isoTimestampSeparator, isoCriterionDates, portalFieldNames
            case openContainers, timeZone, sessionLifetime, keepAlive, compression
        }

        /// Reads the documented JSON form.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            version = try container.decodeChoiceIfPresent(Sandbox.ServerVersion.self, forKey: .version)
            findPastEnd = try container.decodeChoiceIfPresent(Sandbox.FindPastEnd.self, forKey: .findPastEnd)
            ignoresNameCase = try container.decodeIfPresent(Bool.self, forKey: .ignoresNameCase)
            newPortalRecordInfoOnCreate =
                try container.decodeIfPresent(Bool.self, forKey: .newPortalRecordInfoOnCreate)
            dataSourceWithoutAccount = try container.decodeChoiceIfPresent(
                Sandbox.DataSourceWithoutAccount.self,
                forKey: .dataSourceWithoutAccount
            )
            isoTimestampSeparator = try container.decodeChoiceIfPresent(
                Sandbox.ISOTimestampSeparator.self,
                forKey: .isoTimestampSeparator
            )
            isoCriterionDates = try container.decodeChoiceIfPresent(
                Sandbox.CriterionDates.self,
                forKey: .isoCriterionDates
            )
            portalFieldNames = try container.decodeChoiceIfPresent(
                Sandbox.PortalFieldNames.self,
                forKey: .portalFieldNames
            )
            containerStreaming = try container.decodeIfPresent(Bool.self, forKey: .openContainers)
                .map { $0 ? .open : .authenticated }
            timeZone = try container.decodeIfPresent(String.self, forKey: .timeZone).map { name in
                guard let zone = TimeZone(identifier: name) else {
                    throw DecodingError.dataCorruptedError(
                        forKey: .timeZone,
                        in: container,
                        debugDescription: "expected the name of a time zone, as Europe/Berlin, found \"\(name)\""
                    )
                }
                return zone
            }
            sessionLifetime = try container.decodeSecondsIfPresent(forKey: .sessionLifetime)
            keepAlive = try container.decodeSecondsIfPresent(forKey: .keepAlive)
            compression = try container.decodeIfPresent(Bool.self, forKey: .compression)
        }

        /// Writes the format that ``init(from:)`` reads.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(version, forKey: .version)
            try container.encodeIfPresent(findPastEnd, forKey: .findPastEnd)
            try container.encodeIfPresent(ignoresNameCase, forKey: .ignoresNameCase)
            try container.encodeIfPresent(newPortalRecordInfoOnCreate, forKey: .newPortalRecordInfoOnCreate)
            try container.encodeIfPresent(dataSourceWithoutAccount, forKey: .dataSourceWithoutAccount)
            try container.encodeIfPresent(isoTimestampSeparator, forKey: .isoTimestampSeparator)
            try container.encodeIfPresent(isoCriterionDates, forKey: .isoCriterionDates)
            try container.encodeIfPresent(portalFieldNames, forKey: .portalFieldNames)
            try container.encodeIfPresent(containerStreaming.map { $0 == .open }, forKey: .openContainers)
            try container.encodeIfPresent(timeZone?.identifier, forKey: .timeZone)
            try container.encodeIfPresent(sessionLifetime?.seconds, forKey: .sessionLifetime)
            try container.encodeIfPresent(keepAlive?.seconds, forKey: .keepAlive)
            try container.encodeIfPresent(compression, forKey: .compression)
        }
    }
}

extension KeyedDecodingContainer {
    /// A duration in seconds, more than 0 and at most a year.
    fileprivate func decodeSecondsIfPresent(forKey key: Key) throws -> Duration? {
        guard let seconds = try decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard seconds > 0, seconds <= 31_536_000 else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "expected seconds, more than 0 and no more than 31536000"
            )
        }
        return .seconds(seconds)
    }
}
