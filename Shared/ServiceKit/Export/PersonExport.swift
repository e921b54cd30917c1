import Base
package import Bus
import FoundationEssentials
package import Logging
package import Schemas

/// Reads what the services have of a person, page by page, as the files of an archive.
package struct PersonExport: Sendable {
    package struct File: Sendable {
        /// In the folder of its service: `people/friends.json`.
        package let name: String
        package let content: [UInt8]
    }

    private let account: AccountName
    /// Those that are still to be read.
    private var services: [(entry: ServiceEntry, client: CommandClient)]
    /// The next page of the first one.
    private var after: String?
    /// The files that may continue on the next page.
    private var open: [String: [JSONValue]] = [:]
    /// How many parts of a file are complete that is too long for one.
    private var parts: [String: Int] = [:]

    /// How many documents are kept in memory of a file. What is more is in a further file.
    private static let maxDocuments = 10_000

    /// - Parameter client: The client of a service.
    package init(of account: AccountName, client: (ServiceEntry) throws -> CommandClient) rethrows {
        self.account = account
        services = try ServiceEntry.withPersonalData.map { ($0, try client($0)) }
    }

    /// - Throws: ``ConfigurationError``, or `BusError`.
    package init(of account: AccountName, bus: Bus, settings: SettingValues, logger: Logger) throws {
        try self.init(of: account) { service in
            try CommandClient(
                bus: bus, endpoints: settings.value(.endpoints(of: service)), named: "the \(service.title)", logger: logger)
        }
    }

    /// The service that is asked for the next page; `nil` after the last page.
    package var service: ServiceEntry? { services.first?.entry }

    /// Reads the next page.
    ///
    /// - Returns: The files that are complete now; `nil` after the last page.
    /// - Throws: ``CommandFailure`` of the service; `internal` if an attached file has come without its content.
    package mutating func next() async throws(CommandFailure) -> [File]? {
        guard let (entry, client) = services.first else { return nil }
        let (page, bytes) = try await client.read(ExportPerson(account, after: after))
        if let name = page.attached, bytes == nil {
            throw CommandFailure(.internal, "the file \(name) has come without its content")
        }
        after = page.next
        let known = open.merging(page.files) { $0 + $1 }
        let complete = known.filter { file in
            page.next == nil || page.files[file.key] == nil || file.value.count >= Self.maxDocuments
        }
        open = known.filter { complete[$0.key] == nil }
        var files = complete.sorted { $0.key < $1.key }.map { file in
            File(name: "\(entry.name)/\(name(of: file.key))", content: Self.json(of: file.value))
        }
        for file in complete.keys where page.files[file] != nil { parts[file, default: 0] += 1 }
        if let attached = page.attached, let bytes {
            files.append(File(name: "\(entry.name)/\(attached)", content: Array(bytes)))
        }
        if page.next == nil {
            parts = [:]
            services.removeFirst()
        }
        return files
    }

    /// The name of a file's next part: `messages.json`, then `messages-2.json`.
    private func name(of file: String) -> String {
        guard let complete = parts[file] else { return file }
        let end = file.lastIndex(of: ".") ?? file.endIndex
        return "\(file[..<end])-\(complete + 1)\(file[end...])"
    }

    /// A document a line.
    private static func json(of documents: [JSONValue]) -> [UInt8] {
        Array("[\n\(documents.map(\.text).joined(separator: ",\n"))\n]\n".utf8)
    }
}
