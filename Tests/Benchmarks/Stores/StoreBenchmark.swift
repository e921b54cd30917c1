import FoundationEssentials
import MessageStorage
import Schemas

/// The message store beside the database's own C interface doing the same writes, and its history at two lengths.
struct StoreBenchmark {
    private static let rounds = 5
    private static let seconds = 3.0

    let peers: String
    let messages: Int

    private struct Figures: Encodable {
        struct Inserts: Encodable {
            let clients: Int
            let store: Double
            let raw: Double
            let ratio: Double
        }

        struct Pages: Encodable {
            let page: String
            let short: Double
            let long: Double
            let ratio: Double
        }

        let benchmark = "stores"
        let store: String
        let inserts: [Inserts]
        let shortHistory: Int
        let longHistory: Int
        let pages: [Pages]
    }

    func run() async throws {
        let folder = URL(filePath: "/var/tmp/msi-benchmark-\(UInt32.random(in: 0...UInt32.max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path(percentEncoded: false)
        print("SQLite, messages a second, each durable (median of \(Self.rounds) runs of \(Int(Self.seconds)) s, in turns)")
        print(Self.row("clients", "store", "raw C", "ratio"))
        var inserts: [Figures.Inserts] = []
        for clients in [1, 64] {
            var (own, raw): ([Double], [Double]) = ([], [])
            for round in 0..<Self.rounds {
                own.append(
                    try await withStore(path + "/own-\(clients)-\(round)") {
                        try await InsertRate.measure($0, clients: clients, seconds: Self.seconds)
                    })
                try await withStore(path + "/raw-\(clients)-\(round)") { _ in }
                let result = try await Peer(path: peers + "/raw_sqlite").run([
                    path + "/raw-\(clients)-\(round)/message-log.sqlite", String(clients), String(Self.seconds),
                ])
                raw.append(result.count / result.seconds)
            }
            let figures = Figures.Inserts(
                clients: clients, store: own.median.rounded(), raw: raw.median.rounded(),
                ratio: Self.twoDigits(own.median / raw.median))
            print(Self.row("\(clients)", "\(Int(figures.store))", "\(Int(figures.raw))", "\(figures.ratio)"))
            inserts.append(figures)
        }
        let short = 10_000
        print("A page of 50 messages, in milliseconds (median of 101)")
        print(Self.row("page", "of \(short)", "of \(messages)", "ratio"))
        let times = try await [short, messages].asyncMap { count in
            try await withStore(path + "/history-\(count)") { store in
                try await HistoryTime.fill(store, with: count)
                return try await HistoryTime.measure(store, of: count)
            }
        }
        let pages = zip(HistoryTime.pages, zip(times[0], times[1])).map { name, times in
            Figures.Pages(
                page: name, short: Self.twoDigits(times.0), long: Self.twoDigits(times.1),
                ratio: Self.twoDigits(times.1 / times.0))
        }
        for page in pages { print(Self.row(page.page, "\(page.short)", "\(page.long)", "\(page.ratio)")) }
        let figures = Figures(
            store: "sqlite", inserts: inserts, shortHistory: short, longHistory: messages, pages: pages)
        print(String(decoding: try SchemaJSON.encode(figures), as: UTF8.self))
    }

    private func withStore<Value>(_ folder: String, _ body: (any MessageStore) async throws -> Value) async throws -> Value {
        let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
        let value = try await body(store)
        try store.close()
        return value
    }

    private static func row(_ columns: String...) -> String {
        columns.map { $0 + String(repeating: " ", count: max(1, 14 - $0.count)) }.joined()
    }

    private static func twoDigits(_ number: Double) -> Double {
        (number * 100).rounded() / 100
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
