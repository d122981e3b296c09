import Foundation
import OpenCombine

@testable import FMData

/// What a call has published, as far as it can be checked.
enum Seen: Hashable {
    case record(id: Int, marker: String)
    case created(id: Int)
    case text(String?)
    case bytes(Data)
    case nothing

    init<P>(_ record: DataAPI.Record<Row, P>) { self = .record(id: record.recordId, marker: record.fieldData.marker) }
}

/// A record of the simulated database.
struct Row: Codable {
    var marker: String
    var note: String

    enum CodingKeys: String, CodingKey {
        case marker = "Marker"
        case note = "Note"
    }
}

extension Verb {
    typealias Call = AnyPublisher<Seen, FMRest.APIError>

    /// The call, for the step of that number, whose record is the next one.
    func call(_ id: Int, on database: DataAPI.Database) -> Call {
        let layout = database.addLayout(HostPlan.layout)
        let record = id + 1
        let query = DataAPI.FindQuery(query: [["Marker": "==r\(id)"]])
        typealias Rows = AnyPublisher<DataAPI.RecordResponse<Row, DataAPI.EmptyPortal>, FMRest.APIError>
        switch self {
        case .create:
            return layout.createRecord(Row(marker: "c\(id)", note: HostPlan.secret)).seen { .created(id: $0.recordId) }
        case .edit:
            return layout.editRecord(["Note": .text(HostPlan.secret + "e")], recordId: record).seen { _ in .nothing }
        case .editChecked:
            return layout.editRecord(["Note": .text(HostPlan.secret + "m")], recordId: record, modId: 0)
                .seen { _ in .nothing }
        case .duplicate:
            return layout.duplicateRecord(recordId: record).seen { .created(id: $0.recordId) }
        case .delete:
            return layout.deleteRecord(recordId: record).seen { _ in .nothing }
        case .upload:
            let file = FMRest.ContainerFile(
                fileName: "u\(id).bin",
                data: Data(repeating: 7, count: id % 5 == 0 ? 100_000 : 300)
            )
            return layout.uploadContainer(file, to: "File", recordId: record).seen { _ in .nothing }
        case .logScript:
            return layout.executeScript(script: "Log", scriptParam: "s\(id)").seen { _ in .nothing }
        case .echoScript:
            return layout.executeScript(script: "Echo", scriptParam: "e\(id)").seen { .text($0.scriptResult) }
        case .read:
            let rows: Rows = layout.getRecordById(recordId: record)
            return rows.seen { $0.data.first.map(Seen.init) ?? .nothing }
        case .readMissing:
            let rows: Rows = layout.getRecordById(recordId: 999_999)
            return rows.seen { _ in .nothing }
        case .list:
            let rows: Rows = layout.getRecords(recordQuery: .init(limit: 10))
            return rows.seen { _ in .nothing }
        case .stream:
            return layout.records(Row.self, recordQuery: .init(limit: 40)).seen(Seen.init)
        case .find:
            let rows: Rows = layout.findRecords(query: query)
            return rows.seen { $0.data.first.map(Seen.init) ?? .nothing }
        case .findNothing:
            let rows: Rows = layout.findRecords(query: .init(query: [["Marker": "==nobody"]]))
            return rows.seen { .text("\($0.data.count)") }
        case .findStream:
            return layout.records(Row.self, findQuery: query).seen(Seen.init)
        case .download:
            return layout.downloadContainer(fieldName: "File", recordId: record).toMemory(upTo: 1 << 20)
                .seen { .bytes($0.data) }
        case .downloadStream:
            return layout.downloadContainer(fieldName: "File", recordId: record).eraseToAnyPublisher().seen {
                .bytes($0)
            }
        case .metadata:
            return layout.getLayoutMetadata().seen { _ in .nothing }
        case .layouts:
            return database.getLayoutNames().seen { _ in .nothing }
        case .scripts:
            return database.getScriptNames().seen { _ in .nothing }
        case .productInfo:
            return database.server.getProductInfo().seen { _ in .nothing }
        case .databases:
            return database.server.getDatabaseNames(
                credentials: .init(user: HostPlan.user, password: HostPlan.password)
            ).seen { _ in .nothing }
        case .validate:
            return database.validateSession().seen { _ in .nothing }
        case .setGlobals:
            return database.setGlobalFields(globalFields: ["Rows::Global": "g\(id)"]).seen { _ in .nothing }
        case .pinned:
            return database.withSession { pinned in
                pinned.setGlobalFields(globalFields: ["Rows::Global": "p\(id)"])
                    .flatMap(maxPublishers: .max(1)) { _ in
                        pinned.addLayout(HostPlan.layout).executeScript(script: "Global").seen {
                            .text($0.scriptResult)
                        }
                    }
                    .eraseToAnyPublisher()
            }
        case .logOut:
            return database.logOut().seen { _ in .nothing }
        case .logIn:
            return database.login(credentials: .init(user: HostPlan.user, password: HostPlan.password)).seen { _ in
                .nothing
            }
        case .asOther:
            return database.as(.init(user: HostPlan.user, password: HostPlan.password))
                .addLayout(HostPlan.layout).executeScript(script: "Echo", scriptParam: "a\(id)").seen {
                    .text($0.scriptResult)
                }
        }
    }

    /// What is wrong with the values of a call that has finished.
    func complaint(about values: [Seen], step id: Int) -> String? {
        let own = Seen.record(id: id + 1, marker: "r\(id)")
        switch self {
        case .read, .find, .findStream: return values == [own] ? nil : "expected \(own), got \(values)"
        case .echoScript: return values == [.text("e\(id)")] ? nil : "expected its own parameter, got \(values)"
        case .asOther: return values == [.text("a\(id)")] ? nil : "expected its own parameter, got \(values)"
        case .pinned: return values == [.text("p\(id)")] ? nil : "expected the global of its own session, got \(values)"
        case .findNothing: return values == [.text("0")] ? nil : "expected nothing, got \(values)"
        case .readMissing: return "found a record that is not there"
        case .download, .downloadStream:
            let all = values.reduce(into: Data()) { all, value in
                if case .bytes(let bytes) = value { all += bytes }
            }
            return all == HostPlan.content(id) ? nil : "got \(all.count) other bytes"
        case .stream:
            let ids = values.map { if case .record(let id, let marker) = $0, !marker.isEmpty { id } else { -1 } }
            let isRising = zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
            return isRising && !ids.contains(-1) ? nil : "records came out of order: \(ids)"
        default:
            return values.count == 1 ? nil : "published \(values.count) values"
        }
    }
}

extension Publisher where Failure == FMRest.APIError {
    fileprivate func seen(_ look: @escaping (Output) -> Seen) -> Verb.Call { map(look).eraseToAnyPublisher() }
}
