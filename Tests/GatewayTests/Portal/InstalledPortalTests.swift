import Bus
import Foundation
import Logging
import NIOCore
import Pages
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The portal's files as the build puts them beside the executables.
@Suite("Installed portal", .timeLimit(.minutes(10)))
struct InstalledPortalTests {
    @Test("The built folder has the files of the sources")
    func built() throws {
        let files = try PortalFolders.besideExecutable.read()
        let sources = ["Shared/Pages/Files", "Services/Gateway/Portal/Files"].map { folder in
            PageFolder(path: URL(filePath: #filePath).appending(path: "../../../../\(folder)").standardized.path)
        }
        #expect(files.version == (try PortalFolders(all: sources).read().version))
    }

    @Test("Every file that a page or a module names is there")
    func references() throws {
        let folders = PortalFolders.besideExecutable
        let files = try folders.read()
        for path in files.folders + [""] {
            let page = String(decoding: Data(files.page(path)?.plain.bytes.readableBytesView ?? .init()), as: UTF8.self)
            #expect(!page.contains("@") && page.contains("<script type=\"module\""), "\(path): \(page)")
            for reference in page.matches(of: /\/portal\/files\/([^\/"]+)\/([^"?#]+)"/) {
                #expect(reference.1 == files.version, "\(path): \(reference.0)")
                #expect(files.assets[String(reference.2)] != nil, "\(path): \(reference.0)")
            }
            for link in page.matches(of: /href="\/portal\/([^"?#]*)\/"/) where !link.1.hasPrefix("files/") {
                #expect(files.page(String(link.1)) != nil, "\(path): \(link.0)")
            }
        }
        for name in try folders.all.flatMap({ try $0.read().keys }) where name.hasSuffix(".js") {
            let module = String(decoding: try #require(files.assets[name]).body.plain.bytes.readableBytesView, as: UTF8.self)
            for imported in module.matches(of: /(?:from|import|import\()\s*["'](\.[^"']+)["']/) {
                let target = URL(filePath: "/" + name).deletingLastPathComponent().appending(path: String(imported.1))
                    .standardized
                #expect(files.assets[String(target.path.dropFirst())] != nil, "\(name): \(imported.0)")
            }
        }
    }

    @Test("Pages come with the cookie of a sign-in, and the people service is not asked")
    func withoutPeople() async throws {
        let asked = Mutex(0)
        try await withTemporaryFolder { folder in
            try await BusDouble.run("people", in: folder) { router in
                router.on(FindCredential.self) { _, _ in
                    asked.withLock { $0 += 1 }
                    throw CommandFailure(.notFound, "no such credential")
                }
            } _: {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let cookie = ["Cookie": "msi_session=a"]
                    let version = try PortalFolders.besideExecutable.read().version
                    for target in ["/portal", "/portal/nothing", "/portal/files/\(version)/nothing"] {
                        let answer = try await gateway.request("GET", target, headers: cookie)
                        #expect([303, 404].contains(answer.status), "\(answer)")
                    }
                    #expect(asked.withLock(\.self) == 0)
                    try await eventually("it is asked by the API") {
                        _ = try await gateway.request("GET", "/session", headers: cookie)
                        return asked.withLock(\.self) > 0
                    }
                }
            }
        }
    }

    @Test("A gateway without the folder serves the API, and its log names the folder")
    func missing() async throws {
        try await withTemporaryFolder { folder in
            let log = RecordedLog()
            let path = folder + "/nothing"
            #expect(PortalFolders(all: [PageFolder(path: path)]).load(logger: log.logger) == nil)
            #expect(log.lines.filter { $0.level == .warning && $0.text.contains(path) }.count == 1)
        }
    }

    @Test("A gateway without the table of the pages or their HTML serves the API, and its log names the file")
    func incomplete() async throws {
        try await withTemporaryFolder { folder in
            let files = ["page.html": "<main>", "pages.json": #"{"": {"module": "a.js", "texts": [], "styles": []}}"#]
            for missing in files.keys {
                let (path, log) = ("\(folder)/without-\(missing)", RecordedLog())
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                for (name, text) in files where name != missing {
                    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
                }
                #expect(PortalFolders(all: [PageFolder(path: path)]).load(logger: log.logger) == nil)
                #expect(log.lines.filter { $0.level == .warning && $0.text.contains("\(missing): missing") }.count == 1)
            }
        }
    }
}
