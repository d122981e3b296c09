import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// The contents of one container field in many records.
@Suite(.timeLimit(.minutes(15))) struct FoundSetContainersTests {
    private struct Vessel: LayoutRecord {
        static let layout = "Vessels"
        var name: String
        var photo: DataAPI.ContainerReference
        enum CodingKeys: String, CodingKey { case name = "Name", photo = "Photo", plan = "Plan" }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            photo = try container.decode(DataAPI.ContainerReference.self, forKey: .photo)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
        }
    }

    private typealias Photo = DataAPI.RecordContainer<DataAPI.ContainerContent>

    private func photo(_ text: String) -> String {
        "data:text/plain;name=\(text).txt;base64,\(Data(text.utf8).base64EncodedString())"
    }

    private func withHarbor(
        _ count: Int,
        without: Set<Int> = [],
        client: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (DataAPI.TypedLayout<Vessel>, Sandbox) async throws -> Void
    ) async throws {
        let records = (1...count).map { number in
            var values = ["Name": "vessel \(number)"]
            if !without.contains(number) { values["Photo"] = photo("photo \(number)") }
            return Solution.Record(recordId: number, modId: number % 3, values)
        }
        let solution = Solution.single(
            "Vessels",
            fields: [.init("Name"), .init("Photo", .container)],
            layoutFields: ["Name", "Photo"],
            records: records
        )
        try await Hosted.run(solution, client: client) { database, sandbox in
            try await body(database.layout(Vessel.self), sandbox)
        }
    }

    private func texts(_ photos: [Photo]) -> [String?] {
        photos.map { photo in photo.content.map { String(decoding: $0.data, as: UTF8.self) } }
    }

    @Test func eachComesWithItsRecordAndVersionAndWhatIsEmptyIsTold() async throws {
        try await withHarbor(5, without: [2]) { vessels, _ in
            let photos = try await vessels.containers(.photo).outcome().get()
            expectNoDifference(photos.map(\.recordId), [1, 2, 3, 4, 5])
            expectNoDifference(photos.map(\.modId), [1, 2, 0, 1, 2])
            expectNoDifference(texts(photos), ["photo 1", nil, "photo 3", "photo 4", "photo 5"])
            expectNoDifference(photos[0].content?.fileName, "photo 1.txt")
            #expect((try? photos[1].result.get()) == .some(nil))
        }
    }

    @Test func whatTheCallerHasIsNotFetched() async throws {
        try await withHarbor(250) { vessels, sandbox in
            let known = Dictionary(uniqueKeysWithValues: (1...250).map { ($0, $0 % 3) })
            let none = try await vessels.containers(.photo, skipping: { known[$0.id] == $0.modId }).outcome().get()
            expectNoDifference(none.map(\.recordId), [])
            expectNoDifference(sandbox.counters.requests[.getRecord], nil)
            expectNoDifference(sandbox.counters.requests[.getRecords], 3)

            _ = try await vessels.edit(120, setting: ["Name": "renamed"]).firstValue()
            let changed = try await vessels.containers(.photo, skipping: { known[$0.id] == $0.modId }).outcome().get()
            expectNoDifference(changed.map(\.recordId), [120])
            expectNoDifference(texts(changed), ["photo 120"])
        }
    }

    @Test func eachSaysHowFarTheSetHasCome() async throws {
        try await withHarbor(250, without: [3]) { vessels, _ in
            let photos = try await vessels.containers(.photo, skipping: { $0.id > 5 && $0.id < 248 }).outcome().get()
            expectNoDifference(photos.map(\.progress.completedRecords), [1, 2, 3, 4, 5, 248, 249, 250])
            expectNoDifference(Set(photos.map(\.progress.totalRecords)), [250])
            // "photo 1" has seven bytes, "photo 248" nine; the third is empty.
            expectNoDifference(photos.map(\.progress.completedBytes), [7, 14, 14, 21, 28, 37, 46, 55])
            expectNoDifference(photos.map(\.progress.fraction), [1, 2, 3, 4, 5, 248, 249, 250].map { $0 / 250 })
        }
    }

    @Test func aSubscriptionCountsForItself() async throws {
        try await withHarbor(2) { vessels, _ in
            let photos = vessels.containers(.photo)
            for _ in 0..<2 {
                let bytes = try await photos.outcome().get().map(\.progress.completedBytes)
                expectNoDifference(bytes, [7, 14])
            }
        }
    }

    @Test(arguments: [1, 3, nil])
    func bytesOnTheWayAreToldAndRise(concurrency: Int?) async throws {
        try await withHarbor(9, without: [3]) { vessels, _ in
            let seen = NIOLockedValueBox<[DataAPI.ContainersProgress]>([])
            _ = try await vessels.containers(
                .photo,
                concurrency: concurrency,
                onProgress: { progress in seen.withLockedValue { $0.append(progress) } }
            )
            .outcome().get()
            let told = seen.withLockedValue(\.self)
            expectNoDifference(told.map(\.completedBytes), told.map(\.completedBytes).sorted())
            expectNoDifference(told.last?.completedRecords, 9)
            expectNoDifference(told.last?.completedBytes, 8 * 7)
            // This report came before the first content was complete.
            expectNoDifference(told.first?.completedRecords, 0)
        }
    }

    @Test func asManyAreFetchedAtATimeAsTheCallerSays() async throws {
        try await withHarbor(6) { vessels, sandbox in
            _ = try await vessels.containers(.photo, concurrency: 1).outcome().get()
            expectNoDifference(sandbox.counters.requests[.login], 1)
        }
    }

    @Test func aFoundSetHasItsOwnOrder() async throws {
        try await withHarbor(12) { vessels, _ in
            let some = vessels.find { $0(.name).isOneOf(["vessel 3", "vessel 12"]) }.sorted(by: .name)
            let photos = try await some.containers(.photo).outcome().get()
            expectNoDifference(texts(photos), ["photo 12", "photo 3"])
        }
    }

    @Test func filesTakeTheirPlaces() async throws {
        try await withHarbor(4, without: [3]) { vessels, _ in
            try await withTemporaryFolder { folder in
                let path = folder.path
                let photos = try await vessels.containers(
                    .photo,
                    toFiles: { "\(path)/\($0.id)" },
                    skipping: { $0.id == 1 }
                )
                .outcome().get()
                expectNoDifference(photos.map(\.recordId), [2, 3, 4])
                expectNoDifference(photos.map { $0.content?.path }, ["\(path)/2", nil, "\(path)/4"])
                expectNoDifference(photos.map(\.progress.completedBytes), [7, 7, 14])
                expectNoDifference(try FileManager.default.contentsOfDirectory(atPath: path).sorted(), ["2", "4"])
                expectNoDifference(try String(contentsOfFile: "\(path)/4", encoding: .utf8), "photo 4")
            }
        }
    }

    @Test func whatConcernsOneIsItsResult() async throws {
        try await withHarbor(3) { vessels, sandbox in
            let small = try await vessels.containers(.photo, upTo: 4).outcome().get()
            expectNoDifference(small.map { $0.result.failure?.code }, Array(repeating: .responseTooLarge, count: 3))

            sandbox.inject(.error(FileMakerError(101)), on: .getRecord)
            let gone = try await vessels.containers(.photo).outcome().get()
            expectNoDifference(gone.count { $0.result.failure?.fileMakerCode == .recordMissing }, 1)
            expectNoDifference(gone.count { $0.content != nil }, 2)
        }
    }

    @Test func whatConcernsAllIsTheEnd() async throws {
        try await withHarbor(3) { vessels, sandbox in
            let missing = await vessels.containers(.plan).outcome().failure
            expectNoDifference(missing?.containerError?.code, .fieldMissing)
            let unwritable = await vessels.containers(.photo, toFiles: { "/nowhere/at/all/\($0.id)" }).outcome().failure
            expectNoDifference(unwritable?.containerError?.code, .unwritable)
            sandbox.inject(.error(FileMakerError(802)), on: .getRecord, count: nil)
            let closed = await vessels.containers(.photo).outcome().failure
            expectNoDifference(closed?.fileMakerCode?.rawValue, 802)
        }
    }

    @Test func nothingIsFetchedThatIsNotAskedFor() async throws {
        try await withHarbor(9) { vessels, sandbox in
            let subscriber = TrackingSubscriber<Photo, FMRest.APIError>(initialDemand: .none)
            vessels.containers(.photo, isolation: nil).subscribe(subscriber)
            expectNoDifference(sandbox.counters.totalRequests, 0)
            subscriber.request(.max(2))
            await subscriber.valueCount(atLeast: 2)
            await settled { sandbox.counters }
            expectNoDifference(sandbox.counters.requests[.getRecord], 2)
            subscriber.cancel()
        }
    }
}
