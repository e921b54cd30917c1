import CommandBus
import JSON
import NIOCore
import Schemas

extension CubeChanged: VersionEvent {}

/// The gateway's copy of the cube.
struct CubeCopy: Versioned {
    let version: CubeVersion
    let channels: [Schemas.Channel]
    let access: CubeAccess
    /// The same in copies with the same subjects and the same lists. A version does not say so: copies with edits of this gateway, or of
    /// a restored cube, may have the version of another one.
    let lists: ObjectID
    /// All channels, as `GET /channel` answers them to everyone: every `access` is empty.
    let open: Document
    /// All channels with their access lists.
    let complete: Document

    /// All channels as JSON, with their entity tag.
    struct Document: Sendable {
        let json: ByteBuffer
        let tag: String
    }

    /// - Parameter known: An earlier copy, if the gateway has one.
    init(version: CubeVersion, channels: [Schemas.Channel], after known: CubeCopy? = nil) throws {
        self.version = version
        self.channels = channels
        let access = CubeAccess(channels)
        self.access = access
        lists = known.flatMap { $0.access.hasSameLists(as: access) ? $0.lists : nil } ?? ObjectID()
        complete = Document(
            json: ByteBuffer(bytes: try JSONCoder.encode(channels)), tag: VersionTag(CubeTag(version, showsAccess: true)).text)
        open = Document(
            json: channels.allSatisfy(\.isOpen)
                ? complete.json : ByteBuffer(bytes: try JSONCoder.encode(channels.map(\.withoutAccess))),
            tag: VersionTag(CubeTag(version, showsAccess: false)).text)
    }
}

extension Schemas.Channel {
    /// Whether no list names anyone.
    fileprivate var isOpen: Bool {
        access.isEmpty && areas.allSatisfy { $0.access.isEmpty && $0.subjects.allSatisfy(\.access.isEmpty) }
    }
}

extension CommandClient {
    /// Reads the cube: in one reply, or page by page if it is too large for one.
    ///
    /// - Parameter known: The copy to return if the cube has no other version.
    /// - Throws: ``CommandFailure``.
    func readCube(known: CubeCopy?) async throws -> CubeCopy {
        let reply = try await request(ReadCube(known: known?.version))
        if let channels = reply.channels { return try CubeCopy(version: reply.version, channels: channels, after: known) }
        if let pages = reply.pages {
            return try await CubeCopy(version: reply.version, channels: channels(of: reply.version, pages: pages), after: known)
        }
        guard let known else { throw CommandFailure(.internal, "the cube service answered without the cube") }
        return known
    }

    private func channels(of version: CubeVersion, pages count: Int) async throws -> [Schemas.Channel] {
        var pages: [[Schemas.Channel]] = []
        for page in 0..<count {
            do throws(CommandFailure) {
                pages.append(try await request(ReadCubePage(version: version, page: page)).channels)
            } catch {
                guard error.status == .conflict else { throw error }
                throw CommandFailure(.overloaded, "the cube was changed while its \(count) pages were read; try again")
            }
        }
        return CubePages.join(pages)
    }
}
