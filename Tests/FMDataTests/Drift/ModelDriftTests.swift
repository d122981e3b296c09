import CustomDump
import Dispatch
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import OpenCombine
import Testing

@testable import FMData

/// Layouts that a type does not match any more: seen in the first answer, and on request.
@Suite(.timeLimit(.minutes(15))) struct ModelDriftTests {
    /// A country as the layout once showed it: with a currency, and without the number of its zones.
    private struct OldCountry: LayoutRecord {
        static let layout = "Countries"
        var code: String
        var name: String
        var currency: String?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case code = "Code"
            case name = "Name"
            case currency = "Currency"
        }
    }

    /// A country as the layout shows it now.
    private struct Country: LayoutRecord {
        static let layout = "Countries"
        var code: String
        var name: String
        var zoneCount: Int?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case code = "Code"
            case name = "Name"
            case zoneCount = "ZoneCount"
        }
    }

    /// A type that cannot be decoded from the layout.
    private struct StrictCountry: LayoutRecord {
        static let layout = "Countries"
        var currency: String
        enum CodingKeys: String, CodingKey, CaseIterable { case currency = "Currency" }
    }

    private struct Person: LayoutRecord {
        static let layout = "Contacts"
        var name: String
        var city: String
        var email: String?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case name = "Name"
            case city = "City"
            case email = "Email"
        }
    }

    private let old = DataAPI.ModelDrift(
        layout: "Countries",
        record: "OldCountry",
        missing: ["Currency"],
        added: ["ZoneCount"]
    )

    /// A world whose client reports drift, with the client's log from level notice on.
    private func run(
        _ change: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (World, LogLines) async throws -> Void
    ) async throws {
        let log = LogLines()
        try await World.run(
            client: {
                $0.reportsModelDrift = true
                $0.logger = log.logger(.notice)
                change(&$0)
            }
        ) { try await body($0, log) }
    }

    // MARK: In answers

    @Test func theFirstAnswerTellsAndTheNextOnesDoNot() async throws {
        try await run { world, log in
            let countries = world.database.layout(OldCountry.self)
            let changes = TrackingSubscriber<Void, Never>()
            world.database.objectWillChange.subscribe(changes)
            for _ in 0..<3 { _ = try await countries.all().first().firstValue() }
            _ = try await countries.firstRecord { $0(.code) == "NZ" }.firstValue()
            _ = try await world.database.tagged("again").layout(OldCountry.self).all().collect().firstValue()

            expectNoDifference(world.database.modelDrifts, [old])
            expectNoDifference(
                log.all,
                [
                    "warning layout differs from its type of records|added=[\"ZoneCount\"] "
                        + "fm.database=World fm.layout=Countries missing=[\"Currency\"] type=OldCountry"
                ]
            )
            #expect(!changes.values.isEmpty)
            changes.cancel()
        }
    }

    @Test func everyWayToARecordIsWatched() async throws {
        let ways: [(DataAPI.Layout) -> AnyPublisher<Void, FMRest.APIError>] = [
            { $0.getRecords().returnAs(OldCountry.self).map { _ in }.eraseToAnyPublisher() },
            { $0.records(OldCountry.self).collect().map { _ in }.eraseToAnyPublisher() },
            { $0.record(id: 1).returnAs(OldCountry.self).map { _ in }.eraseToAnyPublisher() },
            {
                $0.findRecords(query: FindQuery(query: [["Code": "NZ"]])).returnAs(OldCountry.self).map { _ in }
                    .eraseToAnyPublisher()
            },
            { $0.of(OldCountry.self).all().collect().map { _ in }.eraseToAnyPublisher() },
        ]
        for way in ways {
            try await run { world, _ in
                _ = try await way(world.countries).firstValue()
                expectNoDifference(world.database.modelDrifts, [old])
            }
        }
    }

    @Test func aRecordThatCannotBeReadIsToldOfAsWell() async throws {
        try await run { world, _ in
            let result = await world.database.layout(StrictCountry.self).all().first().awaitSingleResult()
            #expect(throws: FMRest.APIError.self, performing: result.get)
            expectNoDifference(world.database.modelDrifts.map(\.missing), [["Currency"]])
        }
    }

    @Test func whatIsAddedIsNoWarning() async throws {
        struct Name: RecordFields {
            var name: String
            enum CodingKeys: String, CodingKey, CaseIterable { case name = "Name" }
        }
        try await run { world, log in
            _ = try await world.countries.of(Name.self).all().first().firstValue()
            expectNoDifference(world.database.modelDrifts.map(\.added), [["Code", "ZoneCount"]])
            expectNoDifference(log.messages, ["notice layout differs from its type of records"])
        }
    }

    @Test func theLayoutThatShapesTheAnswerCounts() async throws {
        try await run { world, _ in
            let people = world.database.layout(Person.self)
            _ = try await people.find { $0(.name) == "Ada Lovelace" }.responseLayout("Names / 100 % Übersicht").all()
                .collect().firstValue()
            expectNoDifference(world.database.modelDrifts.map(\.layout), ["Names / 100 % Übersicht"])
            expectNoDifference(world.database.modelDrifts.map(\.missing), [["Email"]])
        }
    }

    @Test func nothingIsToldOfWhatIsCurrent() async throws {
        try await run { world, log in
            _ = try await world.database.layout(Country.self).all().collect().firstValue()
            _ = try await world.countries.of(FieldData.self).all().first().firstValue()
            expectNoDifference(world.database.modelDrifts, [])
            expectNoDifference(log.all, [])
        }
    }

    @Test func nobodyIsToldWhoDoesNotAsk() async throws {
        try await run({ $0.reportsModelDrift = false }) { world, log in
            _ = try await world.database.layout(OldCountry.self).all().first().firstValue()
            expectNoDifference(world.database.modelDrifts, [])
            expectNoDifference(log.all, [])
        }
    }

    /// Only the user's decoder knows which key a name becomes.
    @Test func aDecoderOfTheUsersIsNotWatched() async throws {
        try await run({ $0.decoder = JSONDecoder() }) { world, _ in
            _ = try await world.database.layout(OldCountry.self).all().first().firstValue()
            expectNoDifference(world.database.modelDrifts, [])
        }
    }

    // MARK: Reports

    private func watch(_ shown: PublishedState<[DataAPI.ModelDrift]>) -> ModelWatch {
        ModelWatch("D", keys: .exact, logger: nil, shown: shown, willChange: SelfGuarded(ObservableObjectPublisher()))
    }

    @Test func whoIsToldMayReadMoreAtOnce() {
        let shown = PublishedState<[DataAPI.ModelDrift]>(wrappedValue: [])
        let watch = watch(shown)
        let seen = Locked<[[String]]>([])
        let subscription = shown.projectedValue.sink { drifts in
            seen.change { $0.append(drifts.map(\.layout)) }
            if drifts.count == 1 { watch.compare(names: { [] }, of: "B", as: OldCountry.self, logger: nil) }
        }
        watch.compare(names: { [] }, of: "A", as: OldCountry.self, logger: nil)
        expectNoDifference(seen.value, [[], ["A"], ["A", "B"]])
        subscription.cancel()
    }

    @Test func answersThatComeAtTheSameTimeAreAllTold() {
        let shown = PublishedState<[DataAPI.ModelDrift]>(wrappedValue: [])
        let watch = watch(shown)
        let layouts = (0..<200).map { "L\($0)" }
        DispatchQueue.concurrentPerform(iterations: layouts.count) { number in
            watch.compare(names: { [] }, of: layouts[number], as: OldCountry.self, logger: nil)
            watch.compare(names: { [] }, of: "the same", as: OldCountry.self, logger: nil)
        }
        expectNoDifference(shown.wrappedValue.map(\.layout).sorted(), (layouts + ["the same"]).sorted())
    }

    // MARK: On request

    @Test func aLayoutSaysWhetherATypeIsCurrent() async throws {
        try await World.run { world in
            let countries = world.countries
            let drift = try await countries.drift(of: OldCountry.self).firstValue()
            expectNoDifference(drift, old)
            let isOldCurrent = try await countries.isCurrent(OldCountry.self).firstValue()
            let nothing = try await countries.drift(of: Country.self).firstValue()
            let isCurrent = try await countries.isCurrent(Country.self).firstValue()
            expectNoDifference([isOldCurrent, nothing.isEmpty, isCurrent], [false, true, true])
            // Drift that was found on request is not added to `modelDrifts`.
            expectNoDifference(world.database.modelDrifts, [])
        }
    }

    @Test func aLayoutThatIsNotThereIsAnError() async throws {
        try await World.run { world in
            let missing = world.database.addLayout("No such layout")
            let result = await missing.isCurrent(Country.self).awaitSingleResult()
            let error = #expect(throws: FMRest.APIError.self, performing: result.get)
            expectNoDifference(error?.fileMakerCode, .layoutMissing)
        }
    }

    @Test func nothingIsAskedBeforeDemand() async throws {
        try await World.run { world in
            let answer = TrackingSubscriber<Bool, FMRest.APIError>(initialDemand: .none)
            world.countries.isCurrent(Country.self).subscribe(answer)
            expectNoDifference(world.sandbox.counters.requests.values.reduce(0, +), 0)
            answer.request(.max(1))
            _ = await answer.completion()
            expectNoDifference(answer.values, [true])
        }
    }
}
