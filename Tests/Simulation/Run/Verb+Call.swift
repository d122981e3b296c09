import FMData
import Foundation
import OpenCombine

extension Verb {
    typealias Call = AnyPublisher<Seen, FMRest.APIError>

    /// The call of a step, whose record has the next number.
    func call(of step: Step, in simulation: Simulation) -> Call {
        let database = simulation.take(for: step)
        let layout = database.addLayout(HostPlan.layout)
        let id = step.id
        let record = id + 1
        let query = DataAPI.FindQuery(query: [["Marker": "==r\(id)"]])
        let rows = layout.of(Row.self)
        let keyed = database.layout(KeyedRow.self)
        // With a journal, nothing is sent before it is noted.
        let journal: DataAPI.WriteJournal? = id.isMultiple(of: 2) ? .memory() : nil
        func keyedRows(_ letter: String) -> [KeyedRow] {
            (0..<Verb.rows).map { KeyedRow(marker: "\(letter)\(id)x\($0)", key: "\(letter)\(id)x\($0)") }
        }
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
                data: Data(repeating: 7, count: id % 5 == 0 ? 70_000 : 300)
            )
            return layout.uploadContainer(file, to: "File", recordId: record).seen { _ in .nothing }
        case .uploadStream:
            let pieces = [Data](repeating: Data(repeating: 8, count: id % 5 == 0 ? 20_000 : 100), count: 4)
            let file = FMRest.ContainerFile(
                fileName: "s\(id).bin",
                length: pieces.reduce(0) { $0 + $1.count },
                isReplayable: !id.isMultiple(of: 2)
            ) {
                // Each piece arrives some time after it was requested.
                pieces.publisher.setFailureType(to: (any Error).self)
                    .flatMap(maxPublishers: .max(1)) { piece -> Deferred<Future<Data, any Error>> in
                        Deferred {
                            Future { promise in
                                simulation.onUserThread(in: id % 4 * 50) { promise(.success(piece)) }
                            }
                        }
                    }
                    .eraseToAnyPublisher()
            }
            return layout.uploadContainer(file, to: "File", recordId: record).seen { _ in .nothing }
        case .logScript:
            return layout.runScript("Log", parameter: "s\(id)").seen { _ in .nothing }
        case .echoScript:
            return layout.runScript("Echo", parameter: "e\(id)").seen { .text($0.scriptResult) }
        case .read:
            let rows: Rows = layout.record(id: record)
            return rows.seen { $0.data.first.map(Seen.init) ?? .nothing }
        case .readMissing:
            let rows: Rows = layout.record(id: 999_999)
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
        case .findAlternatives:
            let find = DataAPI.Find(Row.CodingKeys.self) { $0(.marker).isOneOf(["r\(id)", "nobody", "none"]) }
            let sort = DataAPI.SortQuery(fieldName: "Marker")
            let rows: Rows = layout.findRecords(
                query: .init(find, sort: id.isMultiple(of: 2) ? [sort] : nil)
            )
            return rows.seen { $0.data.first.map(Seen.init) ?? .nothing }
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
            return database.getLayoutNames().seen { .names($0.flatMap(\.allLayouts).map(\.name)) }
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
            return database.setGlobals(["Rows::Global": "g\(id)"]).seen { _ in .nothing }
        case .pinned:
            return database.withSessionPublisher { pinned in
                pinned.setGlobals(["Rows::Global": "p\(id)"])
                    .flatMap(maxPublishers: .max(1)) { _ in
                        pinned.addLayout(HostPlan.layout).runScript("Global").seen {
                            .text($0.scriptResult)
                        }
                    }
                    .eraseToAnyPublisher()
            }
        case .logOut:
            return database.logOut().seen { _ in .nothing }
        case .logIn:
            return Deferred { database.login(credentials: simulation.credentials(of: database)) }
                .eraseToAnyPublisher().seen { _ in .nothing }
        case .asOther:
            // The library cannot know that it is the same account, so each call has an object of its own.
            let provider = DataAPI.CredentialsProvider(validity: .seconds(1_000_000_000)) {
                Just(DataAPI.Credentials(user: HostPlan.user, password: HostPlan.password))
                    .setFailureType(to: (any Error).self).eraseToAnyPublisher()
            }
            return database.signedIn(by: provider)
                .addLayout(HostPlan.layout).runScript("Echo", parameter: "a\(id)").seen {
                    .text($0.scriptResult)
                }
        case .oAuthProviders:
            return database.server.getOAuthProviders().seen { .text($0.map(\.name).joined()) }
        case .asOAuthUser:
            return database.server
                .startOAuth(provider: "Sandbox", returnURL: "https://app.example.com", trackingId: "t\(id)")
                .flatMap(maxPublishers: .max(1)) { signIn in
                    let identifier = simulation.host(of: step).signIn(HostPlan.oAuthUser, signIn.requestId)
                    return database.signedIn(as: signIn.credentials(identifier: identifier))
                        .addLayout(HostPlan.layout).runScript("Echo", parameter: "o\(id)")
                }
                .seen { .text($0.scriptResult) }
        case .createRetrying:
            return layout.retrying().createRecord(Row(marker: "y\(id)", note: HostPlan.secret))
                .seen { .created(id: $0.recordId) }
        case .pages:
            return rows.all(pageSize: 2 + id % 9).eraseToAnyPublisher().seen(Seen.init)
        case .recordsByID:
            return rows.records(ids: [record, 999_999, record], missing: .skip).seen(Seen.init)
        case .joined:
            return ["r\(id)", "nobody", "r\(id)"].publisher.setFailureType(to: FMRest.APIError.self)
                .joiningOne(rows, on: { $0 }, equals: .marker)
                .eraseToAnyPublisher()
                .seen { joined in joined.child.map(Seen.init) ?? .nothing }
        case .shared:
            return rows.coalescingReads().record(id: record).seen(Seen.init)
        case .save:
            return rows.update(record) { $0.note = HostPlan.secret + "w" }.seen { _ in .nothing }
        case .upsert:
            return keyed.upsert(KeyedRow(marker: "u\(id)", key: "u\(id)"), by: .key).seen { _ in .nothing }
        case .batchCreate:
            let creates = keyedRows("b").map(DataAPI.RecordWrite<KeyedRow>.create)
            return keyed.writing(creates, journal: journal, options: .init(idempotencyKey: "Key"))
                .eraseToAnyPublisher().seen(Seen.init)
        case .batchUpsert:
            let upserts = keyedRows("v").map { DataAPI.RecordWrite<KeyedRow>.upsert($0, by: .key) }
            return keyed.writing(upserts, journal: journal).eraseToAnyPublisher().seen(Seen.init)
        case .batchEdit:
            let edits = (0..<Verb.rows).map {
                DataAPI.RecordWrite<Row>.edit(record, setting: ["Note": .text(HostPlan.secret + "\($0)")])
            }
            return rows.writing(edits).eraseToAnyPublisher().seen(Seen.init)
        case .commit:
            let creates = keyedRows("j").map(DataAPI.RecordWrite<KeyedRow>.create)
            let script = DataAPI.CommitScript("Run Job", in: database.addLayout("Jobs"))
            return keyed.writing(creates, committing: script, journal: journal).eraseToAnyPublisher().seen(Seen.init)
        case .live, .liveFound, .liveByScan, .liveByStamp, .liveByLog, .changes, .changesTakenUp, .observe:
            return watch(database.addLayout(HostPlan.stampedLayout).of(Row.self), step: id)
        case .hint:
            let hint = DataAPI.ChangeHint(
                database: HostPlan.database,
                table: "Rows",
                rowIDs: id.isMultiple(of: 2) ? [record] : nil,
                isSchema: false,
                receivedAt: Date(timeIntervalSince1970: 0)
            )
            return Verb.now { database.changed(hint) }
        case .createByOthers, .editByOthers, .deleteByOthers:
            return Verb.now { simulation.host(of: step).commitByOthers(self, step: id) }
        case .whoAmI:
            return layout.runScript("Who").seen { .text($0.scriptResult) }
        case .swap:
            return Verb.now { simulation.swap(database) }
        case .swapByLogin:
            return Deferred { database.login(credentials: simulation.credentialsOfTheOther(than: database)) }
                .eraseToAnyPublisher().seen { _ in .nothing }
        case .journal: return simulation.write(step, in: database)
        case .followCopy: return simulation.follow(step, in: database)
        }
    }
}

extension Publisher where Failure == FMRest.APIError {
    func seen(_ look: @escaping (Output) -> Seen) -> Verb.Call { map(look).eraseToAnyPublisher() }
}
