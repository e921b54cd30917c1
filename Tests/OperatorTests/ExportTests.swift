import Base
import Bus
import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport
import Testing

/// The archive with the data of a person.
@Suite("Export of a person", .timeLimit(.minutes(10)))
struct ExportTests {
    /// A service whose pages are given, with the `after` by which they are asked for.
    private func withService<Result>(
        _ pages: [String?: ExportPerson.Reply], at endpoint: String, _ body: (CommandClient) async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var router = CommandRouter()
            router.on(ExportPerson.self) { command, _ in
                guard let page = pages[command.after] else { throw CommandFailure(.notFound, "no such page") }
                return page
            }
            let server = try CommandServer(bus: bus, endpoint: endpoint, router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body(CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger))
        }
    }

    @Test("A file that continues on the next page is one file, and each is given as soon as it is complete")
    func pages() async throws {
        try await withTemporaryFolder { folder in
            let pages: [String?: ExportPerson.Reply] = [
                nil: ExportPerson.Reply(files: ["a.json": [1], "b.json": [2]], next: "x"),
                "x": ExportPerson.Reply(files: ["b.json": [3], "c.json": []], next: "y"),
                "y": ExportPerson.Reply(files: ["b.json": [["d": "ü"]]]),
            ]
            try await withService(pages, at: "ipc://\(folder)/service.sock") { client in
                let name = try #require(AccountName("ann"))
                var export = PersonExport(of: name) { _ in client }
                for service in ServiceEntry.withPersonalData.map(\.name) {
                    var found: [[String]] = []
                    for _ in pages { found.append(try await export.next()?.map(\.name) ?? ["none"]) }
                    #expect(found == [[], ["\(service)/a.json"], ["\(service)/b.json", "\(service)/c.json"]])
                }
                #expect(try await export.next() == nil)

                var again = PersonExport(of: name) { _ in client }
                let texts = try await [again.next(), again.next(), again.next()].compactMap(\.self).flatMap(\.self).map {
                    String(decoding: $0.content, as: UTF8.self)
                }
                #expect(texts == ["[\n1\n]\n", "[\n2,\n3,\n{\"d\":\"ü\"}\n]\n", "[\n\n]\n"])
            }
        }
    }

    @Test("The archive has each entry as it was given, at the places that its directory names")
    func archive() throws {
        var zip = ZIPWriter(at: UnixMilliseconds(rawValue: 1_764_039_661_000))
        let contents = ["README.txt": "اقرأ", "people/é.json": String(repeating: "[]", count: 50_000), "empty": ""]
        var bytes: [UInt8] = []
        for (name, content) in contents { bytes += zip.entry(name, Array(content.utf8)) }
        bytes += zip.end()

        func number(_ size: Int, at place: Int) -> Int {
            bytes[place..<place + size].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        func text(_ size: Int, at place: Int) -> String { String(decoding: bytes[place..<place + size], as: UTF8.self) }
        let end = bytes.count - 22
        #expect(number(4, at: end) == 0x0605_4B50 && number(2, at: end + 10) == contents.count)
        var place = number(4, at: end + 16)
        #expect(place + number(4, at: end + 12) == end)
        for _ in contents {
            #expect(number(4, at: place) == 0x0201_4B50)
            // 2025-11-25T03:01:01Z, in steps of two seconds.
            #expect(number(2, at: place + 12) == 3 << 11 | 1 << 5 | 0 && number(2, at: place + 14) == 45 << 9 | 11 << 5 | 25)
            let (size, length, start) = (number(4, at: place + 24), number(2, at: place + 28), number(4, at: place + 42))
            let name = text(length, at: place + 46)
            #expect(number(4, at: start) == 0x0403_4B50 && text(length, at: start + 30) == name)
            #expect(text(size, at: start + 30 + length) == contents[name])
            let content = Array(bytes[start + 30 + length..<start + 30 + length + size])
            #expect(number(4, at: place + 16) == Int(CRC32.checksum(of: content)))
            place += 46 + length
        }
        #expect(place == end)
        // The check value of the checksum's definition.
        #expect(CRC32.checksum(of: Array("123456789".utf8)) == 0xCBF4_3926)
    }
}
