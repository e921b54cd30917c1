import Base
import Bus
import DeviceTokens
import HTTPRouting
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes
import Schemas
import ServiceKit

extension ErasureRoutes {
    var exportRoute: Route {
        Route(.get, "/user/export", right: .person, answer: .ok(Self.mediaType), export).documented(
            "Export one's data",
            "A ZIP archive with a folder for each service, whose files are lists of documents in JSON. `README.txt` explains them, in the "
                + "language of `Accept-Language`: English or Arabic. It has neither keys nor tokens. If a service fails while the archive "
                + "is sent, the connection is broken off, and the archive has no end.")
    }

    private static let mediaType = "application/zip"

    /// The pages are read while the archive is sent, so that it needs little memory. They end if the device ends.
    private func export(_ call: PersonCall<NoBody>) async throws -> Answer<NoContent> {
        let person = call.principal
        let readme = PersonExport.readme(
            of: person.account, in: AppLanguage(accepted: call.request.headers[.acceptLanguage]).rawValue)
        var export = PersonExport(of: person.account) { clients[$0] }
        // Before the head of the answer, so that a service that is away has an answer.
        let first = try await export.next() ?? []
        let body = ResponseBody { [devices, export, channel = call.context.channel] writer in
            var (zip, export) = (ZIPWriter(at: .now), export)
            var files: [PersonExport.File]? = [readme] + first
            while let page = files {
                for file in page { try await channel.send(zip.entry(file.name, file.content)) }
                if let refusal = devices.refusal(of: person) { throw Problem(.unauthenticated, refusal.text) }
                files = try await export.next()
            }
            try await channel.send(zip.end())
            try await writer.finish(nil)
        }
        return Answer(
            body: body,
            headers: [
                .contentType: Self.mediaType, .vary: "Accept-Language",
                .contentDisposition: "attachment; filename=\"\(person.account).zip\"",
            ])
    }
}

extension NIOCore.Channel {
    /// The maximum size of a piece, in bytes. The response timeout applies to each piece.
    private static var maxPiece: Int { 64 << 10 }

    fileprivate func send(_ bytes: [UInt8]) async throws {
        var rest = ByteBuffer(bytes: bytes)
        while let piece = rest.readSlice(length: min(rest.readableBytes, Self.maxPiece)), piece.readableBytes > 0 {
            try await writeAndFlush(HTTPResponsePart.body(piece))
        }
    }
}
