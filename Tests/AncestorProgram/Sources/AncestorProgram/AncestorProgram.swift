import FMData
import OpenCombine

/// A program in the style of the README of the package that this library replaces. It makes every call shown there and
/// imports only FMData and OpenCombine. Its argument is the URL of a server that hosts the sample file `World`, such as
/// `fmdata sandbox` prints.
@main
struct AncestorProgram {
    static func main() async {
        guard CommandLine.arguments.count == 2 else { return print("usage: ancestor-program URL") }
        let program = AncestorProgram(host: CommandLine.arguments[1])
        do throws(FMRest.APIError) {
            try await program.readMetadata()
            try await program.work()
            try await program.upload()
            try await program.end()
            print("Every call did what it says")
        } catch {
            print("Failed: \(error)")
        }
    }

    let server: DataAPI.Server
    let database: DataAPI.Database
    let contacts: DataAPI.Layout

    init(host: String) {
        let contacts = DataAPI.Server(host: host).addDatabase("World").addLayout(Layouts.contacts)
        self.contacts = contacts
        database = contacts.database
        server = contacts.database.server
        precondition(server.addDatabase("World") === database)
    }

    // MARK: Metadata

    func readMetadata() async throws(FMRest.APIError) {
        let product: DataAPI.Server.ProductInfo = try await server.getProductInfo().awaitSingleResult().get()
        print("\(product.name) writes dates as \(product.dateFormat)")
        let files = try await server.getDatabaseNames(credentials: .init(user: "admin", password: "secret"))
            .awaitSingleResult().get()
        print("Databases: \(files.databases.map(\.name))")
        _ = try await server.getDatabaseNames().awaitSingleResult().get()

        let token = try await database.login(credentials: Requests.credentials, dataSourceCredentials: nil)
            .awaitSingleResult().get()
        let states = Cancellables()
        database.$credentials.sink { print("Credentials: \($0.kind)") }.store(in: &states.set)
        _ = try await server.validateSession(credentials: token).awaitSingleResult().get()

        for item in try await database.getLayoutNames().awaitSingleResult().get() {
            switch item {
            case .layout(let layout): print("Layout \(layout.name)")
            case .folder(let name, let layouts): print("Folder \(name) of \(layouts.count)")
            }
        }
        for item in try await database.getScriptNames().awaitSingleResult().get() {
            switch item {
            case .script(let name): print("Script \(name)")
            case .folder(let name, let scripts): print("Folder \(name) of \(scripts.count)")
            }
        }
        let metadata = try await contacts.getLayoutMetadata().awaitSingleResult().get()
        for field in metadata.fieldMetaData.sorted() where field.type == .normal && field.result == .date {
            print("Date field \(field.name), shown as \(field.displayType == .calendar ? "calendar" : "text")")
        }
        print("Value lists: \(metadata.valueLists?.sorted().map(\.name) ?? [])")
    }

    // MARK: Records

    func work() async throws(FMRest.APIError) {
        let made = try await contacts.createRecord(
            record: EditRecord(
                createRecord: Requests.person,
                portalData: Requests.phones,
                script: ScriptQuery(script: "Echo", scriptParam: "made")
            )
        ).awaitSingleResult().get()
        print("Made, script says \(made.scriptResponse?.scriptResult ?? "nothing")")

        let read = try await contacts.getRecordById(recordId: made.recordId).returnAs(Person.self, Portals.self)
            .awaitSingleResult().get()
        guard let record = read.data.first, let phone = record.portalData?.phones.first else { return }
        var changed = record.fieldData
        changed.city = "Kiel"
        let edited = try await contacts.editRecord(
            record: EditRecord(editRecord: changed, modId: record.modId),
            recordId: record.recordId
        ).awaitSingleResult().get()
        let again = try await contacts.editRecord(
            record: EditRecord(editRecord: changed, modId: String(edited.modId)),
            recordId: record.recordId
        ).awaitSingleResult().get()
        print("Phone \(phone.number), edited \(again.modId - record.modId) times")

        let copy = try await contacts.duplicateRecord(recordId: record.recordId).awaitSingleResult().get()
        _ = try await contacts.deleteRecord(recordId: copy.recordId, scriptQuery: ScriptQuery(script: "Echo"))
            .awaitSingleResult().get()

        let page = try await contacts.getRecords(recordQuery: Requests.range).returnAs(Person.self)
            .awaitSingleResult().get()
        print("\(page.dataInfo.returnedCount) of \(page.dataInfo.foundCount)")
        print("Scripts before: \(page.scriptResponse?.scriptResultPreRequest ?? "nothing")")
        let cities = try await contacts.findRecords(query: Requests.find).returnAs(Person.self, Portals.self)
            .map { response in response.data.filter { $0.fieldData.city == "Kiel" }.map(\.fieldData.name) }
            .eraseToAnyPublisher()
            .awaitSingleResult().get()
        print("In Kiel: \(cities)")

        let run = try await contacts.executeScript(script: "Echo", scriptParam: "a&b").awaitSingleResult().get()
        print("Script: \(run.scriptResult ?? "nothing")")
        _ = try await database.setGlobalFields(globalFields: ["Contacts::gFilter": "Value"]).awaitSingleResult().get()
    }

    // MARK: Containers

    func upload() async throws(FMRest.APIError) {
        let made = try await contacts.createRecord(record: EditRecord(createRecord: Requests.person))
            .awaitSingleResult().get()
        guard let file = try? ContainerFile(contentsOf: #filePath) else { return print("No file to upload") }
        _ = try await contacts.uploadToContainerField(fieldName: "Photo", recordId: made.recordId, file: file)
            .awaitSingleResult().get()
        let content = try await contacts.downloadContainer(fieldName: "Photo", recordId: made.recordId)
            .toMemory(upTo: 1_000_000)
            .awaitSingleResult().get()
        let picture = ContainerFile(fileName: "FileName", mimeType: "image/jpg", data: content.data)
        _ = try await contacts.uploadToContainerField(
            fieldName: "Photo",
            recordId: made.recordId,
            repetition: 1,
            modId: nil,
            file: picture
        ).awaitSingleResult().get()
        print("Uploaded \(content.fileName ?? "a file")")
    }

    // MARK: Logout

    func end() async throws(FMRest.APIError) {
        _ = try await database.logOut().awaitSingleResult().get()
        print("Logged out")
    }
}

/// Holds the subscriptions.
final class Cancellables {
    var set: Set<AnyCancellable> = []
}
