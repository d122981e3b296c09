import FMData
import OpenCombine

/// A program in the style of the README of the package that this library replaces: pipelines with subscribers. It makes
/// every call shown there and imports only FMData and OpenCombine. Its argument is the URL of a server that hosts the
/// sample file `World`, such as `fmdata sandbox` prints.
@main
struct AncestorProgram {
    @MainActor
    static func main() async {
        guard CommandLine.arguments.count == 2 else { return print("usage: ancestor-program URL") }
        let program = Program(host: CommandLine.arguments[1])
        // A program ends with its last line, and its pipelines with it.
        await withCheckedContinuation { end in program.start { end.resume() } }
    }
}

/// What a call has to say, line by line.
typealias Lines = AnyPublisher<String, FMRest.APIError>

@MainActor
final class Program {
    let server: DataAPI.Server
    let database: DataAPI.Database
    let contacts: DataAPI.Layout
    private var subscriptions: Set<AnyCancellable> = []

    init(host: String) {
        let contacts = DataAPI.Server(host: host).addDatabase("World").addLayout(Layouts.contacts)
        self.contacts = contacts
        database = contacts.database
        server = contacts.database.server
        precondition(server.addDatabase("World") === database)
    }

    func start(end: @escaping () -> Void) {
        database.$credentials
            .sink { print("Credentials: \($0.kind)") }
            .store(in: &subscriptions)

        servers()
            .append(login())
            .append(layouts())
            .append(scripts())
            .append(fields())
            .append(records())
            .append(finds())
            .append(scriptRun())
            .append(pictures())
            .append(logout())
            .sink(
                receiveCompletion: { completion in
                    switch completion {
                    case .finished: print("Every call did what it says")
                    case .failure(let error): print("Failed: \(error)")
                    }
                    end()
                },
                receiveValue: { print($0) }
            )
            .store(in: &subscriptions)
    }

    // MARK: Metadata

    private func servers() -> Lines {
        let product: AnyPublisher<DataAPI.Server.ProductInfo, FMRest.APIError> = server.getProductInfo()
        return
            product
            .map { "\($0.name) writes dates as \($0.dateFormat)" }
            .append(
                server.getDatabaseNames(credentials: .init(user: "admin", password: "secret"))
                    .map { "Databases: \($0.databases.map(\.name))" }
            )
            .append(server.getDatabaseNames().map { "\($0.databases.count) without an account" })
            .eraseToAnyPublisher()
    }

    private func login() -> Lines {
        database.login(credentials: Requests.credentials, dataSourceCredentials: nil)
            .flatMap { [server] token in server.validateSession(credentials: token) }
            .map { _ in "Logged in" }
            .eraseToAnyPublisher()
    }

    private func layouts() -> Lines {
        database.getLayoutNames()
            .flatMap { $0.publisher.setFailureType(to: FMRest.APIError.self) }
            .map { item in
                switch item {
                case .layout(let layout): "Layout \(layout.name)"
                case .folder(let name, let layouts): "Folder \(name) of \(layouts.count)"
                }
            }
            .eraseToAnyPublisher()
    }

    private func scripts() -> Lines {
        database.getScriptNames()
            .flatMap { $0.publisher.setFailureType(to: FMRest.APIError.self) }
            .map { item in
                switch item {
                case .script(let name): "Script \(name)"
                case .folder(let name, let scripts): "Folder \(name) of \(scripts.count)"
                }
            }
            .eraseToAnyPublisher()
    }

    private func fields() -> Lines {
        contacts.getLayoutMetadata()
            .map { metadata in
                let dates = metadata.fieldMetaData.sorted().filter { $0.type == .normal && $0.result == .date }
                let lines = dates.map { field in
                    "Date field \(field.name), shown as \(field.displayType == .calendar ? "calendar" : "text")"
                }
                return lines + ["Value lists: \(metadata.valueLists?.sorted().map(\.name) ?? [])"]
            }
            .flatMap { (lines: [String]) in lines.publisher.setFailureType(to: FMRest.APIError.self) }
            .eraseToAnyPublisher()
    }

    // MARK: Records

    private func records() -> Lines {
        let script = ScriptQuery(script: "Echo", scriptParam: "made")
        return contacts.createRecord(
            record: EditRecord(createRecord: Requests.person, portalData: Requests.phones, script: script)
        )
        .flatMap { [self] made in
            contacts.getRecordById(recordId: made.recordId).returnAs(Person.self, Portals.self)
                .flatMap { [self] response in
                    response.data.publisher.setFailureType(to: FMRest.APIError.self)
                        .flatMap { [self] record in edit(record) }
                }
                .prepend("Made, script says \(made.scriptResponse?.scriptResult ?? "nothing")")
        }
        .eraseToAnyPublisher()
    }

    /// Edits a record twice, duplicates it and deletes the duplicate.
    private func edit(_ record: DataAPI.Record<Person, Portals>) -> Lines {
        var changed = record.fieldData
        changed.city = "Kiel"
        let phone = record.portalData?.phones.first?.number ?? "none"
        return contacts.editRecord(
            record: EditRecord(editRecord: changed, modId: record.modId),
            recordId: record.recordId
        )
        .flatMap { [contacts, changed] edited in
            contacts.editRecord(
                record: EditRecord(editRecord: changed, modId: String(edited.modId)),
                recordId: record.recordId
            )
        }
        .map { "Phone \(phone), edited \($0.modId - record.modId) times" }
        .append(
            contacts.duplicateRecord(recordId: record.recordId)
                .flatMap { [contacts] copy in
                    contacts.deleteRecord(recordId: copy.recordId, scriptQuery: ScriptQuery(script: "Echo"))
                }
                .map { "Deleted a duplicate, script says \($0.scriptResult ?? "nothing")" }
        )
        .eraseToAnyPublisher()
    }

    private func finds() -> Lines {
        contacts.getRecords(recordQuery: Requests.range).returnAs(Person.self)
            .map { page in
                """
                \(page.dataInfo.returnedCount) of \(page.dataInfo.foundCount)
                Scripts before: \(page.scriptResponse?.scriptResultPreRequest ?? "nothing")
                """
            }
            .append(
                contacts.findRecords(query: Requests.find).returnAs(Person.self, Portals.self)
                    .map { response in response.data.filter { $0.fieldData.city == "Kiel" }.map(\.fieldData.name) }
                    .map { "In Kiel: \($0)" }
            )
            .eraseToAnyPublisher()
    }

    private func scriptRun() -> Lines {
        contacts.executeScript(script: "Echo", scriptParam: "a&b")
            .map { "Script: \($0.scriptResult ?? "nothing")" }
            .append(
                database.setGlobalFields(globalFields: ["Contacts::gFilter": "Value"]).map { _ in "A global is set" }
            )
            .eraseToAnyPublisher()
    }

    // MARK: Containers

    private func pictures() -> Lines {
        guard let file = try? ContainerFile(contentsOf: #filePath) else {
            return Just("No file to upload").setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        }
        return contacts.createRecord(record: EditRecord(createRecord: Requests.person))
            .map(\.recordId)
            .flatMap { [contacts] id in
                contacts.uploadToContainerField(fieldName: "Photo", recordId: id, file: file)
                    .flatMap { _ in
                        contacts.downloadContainer(fieldName: "Photo", recordId: id).toMemory(upTo: 1_000_000)
                    }
                    .flatMap { content in
                        contacts.uploadToContainerField(
                            fieldName: "Photo",
                            recordId: id,
                            repetition: 1,
                            modId: nil,
                            file: ContainerFile(fileName: "FileName", mimeType: "image/jpg", data: content.data)
                        )
                        .map { _ in "Uploaded \(content.fileName ?? "a file")" }
                    }
            }
            .eraseToAnyPublisher()
    }

    // MARK: Logout

    private func logout() -> Lines {
        database.logOut().map { _ in "Logged out" }.eraseToAnyPublisher()
    }
}
