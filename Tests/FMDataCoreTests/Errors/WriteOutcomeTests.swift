import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// A write succeeded, failed, or has an unknown outcome. Whatever breaks, the caller receives the right one of the
/// three.
@Suite(.timeLimit(.minutes(15))) struct WriteOutcomeTests {
    /// Every fault that an answer can have, except `cutAnswer`, which has a test of its own.
    private static var faults: [Sandbox.Fault] {
        var faults: [Sandbox.Fault] = [
            .reset, .resetAfterExecution, .brokenJSON, .closeAfterAnswer, .expireToken, .refuseToken, .restart,
            .fullHost,
            .html(status: 200), .html(status: 401), .html(status: 502), .html(status: 503),
            .htmlAfterExecution(status: 500), .htmlAfterExecution(status: 502), .htmlAfterExecution(status: 504),
            .empty(status: 200), .empty(status: 500), .empty(status: 504), .error(.init(301)), .error(.init(500)),
            .cut(afterBodyBytes: 0), .cut(afterBodyBytes: 7),
        ]
        for mistake in Sandbox.ChunkSizeMistake.allCases {
            faults += [0, 1, 40].map { .badChunkSize(mistake, afterBodyBytes: $0) }
        }
        return faults
    }

    @Test(
        .thorough,
        arguments: [Sandbox.Endpoint.createRecord, .editRecord, .deleteRecord, .duplicateRecord, .uploadContainer]
    )
    func everyFaultOfAnAnswer(endpoint: Sandbox.Endpoint) async throws {
        try await World.run { world in
            var counts = WriteCounts(world, endpoint)
            for fault in Self.faults { try await counts.write(under: fault) }
            // An error of FileMaker stays a failure with a known outcome.
            #expect(counts.refused >= 2)
            #expect(counts.unknown > 0)
            // A fault has refused some tokens in the host's name, so the host still has their sessions.
            world.sandbox.expireSessions()
        }
    }

    /// The answer of a create, cut off after each of its bytes; in a brief run, after every fortieth.
    @Test(arguments: Sandbox.AnswerFraming.allCases)
    func everyByteOfAnAnswer(framing: Sandbox.AnswerFraming) async throws {
        try await World.run { world in
            var counts = WriteCounts(world, .createRecord)
            var cuts = 0
            // Past its end the answer is complete, and the record is acknowledged.
            while counts.acknowledged == 0, cuts < 4096 {
                let position = cuts * Effort.of(1, brief: 40)
                try await counts.write(under: .cutAnswer(afterBytes: position, framing: framing))
                cuts += 1
            }
            #expect(counts.acknowledged == 1)
            expectNoDifference(counts.unknown, cuts - 1)
        }
    }

    /// Counts the results of writes, and after each write compares them with what the server has executed.
    private struct WriteCounts {
        let world: World
        let endpoint: Sandbox.Endpoint
        var acknowledged = 0
        var unknown = 0
        var refused = 0

        init(_ world: World, _ endpoint: Sandbox.Endpoint) {
            self.world = world
            self.endpoint = endpoint
        }

        mutating func write(under fault: Sandbox.Fault) async throws {
            // The previous fault may still be closing its connection after the answer, and a write would be lost with
            // it. A read is sent again.
            _ = try await world.database.getScriptNames().firstValue()
            // The record for the write, and a session, so that the fault hits the write itself.
            let id = try await world.contacts.createRecord(record: EditRecord(createRecord: FieldData())).firstValue()
                .recordId
            let before = world.sandbox.counters.executedWrites
            world.sandbox.inject(fault, on: endpoint)
            let result = await write(to: id)
            world.sandbox.clearFaults()
            let executed = world.sandbox.counters.executedWrites - before
            switch result {
            case .success:
                acknowledged += 1
                expectNoDifference(executed, 1, "\(fault)")
            case .failure(let error) where error.outcomeIsUnknown:
                unknown += 1
                #expect(executed <= 1, "\(fault): \(error)")
                #expect(!error.isRetryable, "\(fault): \(error)")
            case .failure(let error):
                refused += 1
                expectNoDifference(executed, 0, "\(fault): \(error)")
            }
        }

        private func write(to id: Int) async -> Result<Void, FMRest.APIError> {
            let contacts = world.contacts
            let city = EditRecord(editRecord: ["City": "Calgary"] as FieldData)
            return switch endpoint {
            case .createRecord:
                await contacts.createRecord(record: EditRecord(createRecord: FieldData())).map { _ in () }
                    .awaitSingleResult()
            case .editRecord:
                await contacts.editRecord(record: city, recordId: id).map { _ in () }.awaitSingleResult()
            case .deleteRecord:
                await contacts.deleteRecord(recordId: id).map { _ in () }.awaitSingleResult()
            case .duplicateRecord:
                await contacts.duplicateRecord(recordId: id).map { _ in () }.awaitSingleResult()
            default:
                await contacts.uploadContainer(
                    FMRest.ContainerFile(fileName: "a.txt", data: Data("abc".utf8)),
                    to: "Photo",
                    recordId: id
                )
                .map { _ in () }.awaitSingleResult()
            }
        }
    }

    @Test(
        .tags(.earlierClients),
        arguments: [Sandbox.Endpoint.createRecord, .editRecord, .duplicateRecord, .deleteRecord],
        [Sandbox.Fault.resetAfterExecution, .htmlAfterExecution(status: 502), .htmlAfterExecution(status: 504)]
    )
    func aWriteWhoseAnswerIsLostIsNotSentAgain(endpoint: Sandbox.Endpoint, fault: Sandbox.Fault) async throws {
        try await World.run { world in
            _ = try await world.database.getScriptNames().firstValue()
            world.sandbox.inject(fault, on: endpoint)
            let error: FMRest.APIError?
            switch endpoint {
            case .createRecord: error = await world.contacts.createRecord().awaitSingleResult().failure
            case .editRecord:
                error = await world.contacts.editRecord(record: EditRecord(editRecord: ["City": "a"]), recordId: 1)
                    .awaitSingleResult().failure
            case .duplicateRecord:
                error = await world.contacts.duplicateRecord(recordId: 1).awaitSingleResult().failure
            default: error = await world.contacts.deleteRecord(recordId: 1).awaitSingleResult().failure
            }
            expectNoDifference(error?.outcomeIsUnknown, true)
            expectNoDifference(error?.isRetryable, false)
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
        }
    }
}
