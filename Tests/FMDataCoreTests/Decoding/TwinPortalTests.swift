import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

/// Two portals of one table without object names are sent under one key, twice.
@Suite struct TwinPortalTests {
    private struct Row: Codable, Sendable {
        var number: String
        enum CodingKeys: String, CodingKey { case number = "Phones::Number" }
    }

    private struct Twins: Codable, Sendable {
        var phones: [Row]
        enum CodingKeys: String, CodingKey { case phones = "Phones" }
    }

    private struct MayBeTwins: Codable, Sendable {
        var phones: [Row]?
        enum CodingKeys: String, CodingKey { case phones = "Phones" }
    }

    private struct Other: Codable, Sendable {
        var notes: [Row]
        enum CodingKeys: String, CodingKey { case notes = "Notes" }
    }

    private static let text = """
        {"response":{"data":[{"fieldData":{},"portalData":{
        "Phones":[{"Phones::Number":"1"}],"Notes":[{"Phones::Number":"2"}],"Phones":[{"Phones::Number":"3"}]
        },"recordId":"7","modId":"0"}]},"messages":[{"code":"0","message":"OK"}]}
        """

    private func answer<P: Codable & Sendable>(_ portals: P.Type) throws -> DataAPI.RecordResponse<FieldData, P> {
        try FMDecoder().decodeAnswer(DataAPI.RecordResponse<FieldData, P>.self, from: Data(Self.text.utf8))
    }

    private func failure<P: Codable & Sendable>(_ portals: P.Type) -> DecodingFailure? {
        do {
            _ = try answer(portals)
            return nil
        } catch {
            return error as? DecodingFailure
        }
    }

    @Test func rowsOfTwinsAreNotDroppedSilently() {
        for failure in [failure(Twins.self), failure(MayBeTwins.self)] {
            expectNoDifference(failure?.portal, "Phones")
            expectNoDifference(
                failure?.reason,
                "the layout has two portals of this name, and the rows of one would be lost."
            )
            #expect(failure?.hint?.contains("object name") == true)
        }
    }

    @Test func aDictionaryHasBoth() throws {
        let portals = try #require(try answer([String: [FieldData]].self).data[0].portalData)
        expectNoDifference(
            portals.mapValues { $0.map(\.["Phones::Number"]) },
            ["Phones": ["1"], "Notes": ["2"], "Phones(2)": ["3"]]
        )
    }

    @Test func aPortalThatReallyHasTheNumberIsNotTakenForATwin() throws {
        let text = Self.text.replacingOccurrences(of: #""Notes""#, with: #""Phones(2)""#)
        let record = try FMDecoder().decodeAnswer(
            DataAPI.RecordResponse<FieldData, [String: [FieldData]]>.self,
            from: Data(text.utf8)
        ).data[0]
        expectNoDifference(
            record.portalData?.mapValues { $0.map(\.["Phones::Number"]) },
            ["Phones": ["1"], "Phones(2)": ["2"], "Phones(3)": ["3"]]
        )
    }

    @Test func whoReadsAnotherPortalIsNotConcerned() throws {
        let record = try answer(Other.self).data[0]
        expectNoDifference(record.portalData?.notes.map(\.number), ["2"])
        expectNoDifference(try answer(DataAPI.EmptyPortal.self).data.count, 1)
        var options = DecodingOptions()
        options.duplicateKeys = .refuse
        #expect(throws: DecodingFailure.self) {
            try FMDecoder(options: options)
                .decodeAnswer(
                    DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>.self,
                    from: Data(Self.text.utf8)
                )
        }
    }

    @Test func aLenientRecordTellsOfThemAndKeepsItsFields() throws {
        let record = try answer(DataAPI.LenientPortals<Twins>.self).data[0]
        let failure = #expect(throws: DecodingFailure.self) { try record.portalData?.result.get() }
        expectNoDifference(failure?.portal, "Phones")
        expectNoDifference(record.recordId, 7)
        // Portals that could not be decoded cannot be encoded either.
        #expect(throws: EncodingFailure.self) { try FMEncoder().encodeFields(record.portalData) }
    }
}
