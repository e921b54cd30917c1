import Base
package import Bus
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
    package mutating func next() async throws(CommandFailure) -> [File]? {
        guard let (entry, client) = services.first else { return nil }
        let page = try await client.request(ExportPerson(account, after: after))
        var complete = open.filter { page.files[$0.key] == nil }
        open = open.filter { page.files[$0.key] != nil }.merging(page.files) { $0 + $1 }
        after = page.next
        if page.next == nil {
            complete.merge(open) { $1 }
            open = [:]
            services.removeFirst()
        }
        return complete.sorted { $0.key < $1.key }.map { File(name: "\(entry.name)/\($0.key)", content: Self.json(of: $0.value)) }
    }

    /// A document a line.
    private static func json(of documents: [JSONValue]) -> [UInt8] {
        Array("[\n\(documents.map(\.text).joined(separator: ",\n"))\n]\n".utf8)
    }
}
