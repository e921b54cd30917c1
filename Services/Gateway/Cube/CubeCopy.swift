import Base
import Bus
import FoundationEssentials
import NIOCore
import Schemas

extension CubeChanged: VersionEvent {
    var versionedEdit: VersionedCubeEdit? { edit.map { VersionedCubeEdit(version: version, edit: $0) } }
    var checksum: UInt64? { digest?.value }
}

/// An edit of the cube, as an event or the answer to this gateway tells it.
struct VersionedCubeEdit: VersionedEdit {
    let version: CubeVersion
    let edit: AppliedCubeEdit

    var size: Int { (try? JSONCoder.encode(edit).count) ?? 0 }

    func follows(_ other: CubeVersion) -> Bool { version.rawValue == other.rawValue &+ 1 }
}

/// The gateway's copy of the cube.
struct CubeCopy: Versioned {
    let version: CubeVersion
    let channels: [Schemas.Channel]
    let access: CubeAccess
    /// The same in copies with the same subjects and the same lists. A version does not say so: copies with edits of this gateway, or of
    /// a restored cube, may have the version of another one.
    let lists: ObjectID
    let digest: CubeDigest
    /// All channels, as `GET /channel` answers them to everyone: every `access` is empty.
    let open: Document
    /// All channels with their access lists.
    let complete: Document

    /// All channels as JSON, with their entity tag.
    struct Document: Sendable {
        let json: SharedBody
        let tag: String
    }

    var checksum: UInt64? { digest.value }

    /// - Parameter known: An earlier copy, if the gateway has one.
    init(version: CubeVersion, channels: [Schemas.Channel], after known: CubeCopy? = nil) throws {
        self.version = version
        self.channels = channels
        let access = CubeAccess(channels)
        self.access = access
        lists = known.flatMap { $0.access.hasSameLists(as: access) ? $0.lists : nil } ?? ObjectID()
        let json = try channels.map { try JSONCoder.encode($0) }
        digest = CubeDigest(ofJSON: json)
        complete = Document(ofJSON: json, CubeTag(version, digest))
        guard !channels.allSatisfy(\.isOpen) else {
            open = Document(json: complete.json, tag: VersionTag(CubeTag(version, digest, showsAccess: false)).text)
            return
        }
        // Its tag must not tell who is in the lists.
        let openJSON = try channels.map { try JSONCoder.encode($0.withoutAccess) }
        open = Document(ofJSON: openJSON, CubeTag(version, CubeDigest(ofJSON: openJSON), showsAccess: false))
    }

    /// The copy after edits. It has their version if they are all that the cube service has made. Otherwise those that do not fit are left
    /// out.
    func applying(_ edits: [VersionedCubeEdit]) throws -> CubeCopy {
        guard !edits.isEmpty else { return self }
        var channels = channels
        var (version, isComplete) = (version, true)
        for edit in edits {
            var changed = channels
            do {
                try edit.edit.apply(to: &changed)
                channels = changed
            } catch {
                isComplete = false
            }
            if edit.follows(version) { version = edit.version }
        }
        isComplete = isComplete && version == edits.last?.version
        return try CubeCopy(version: isComplete ? version : self.version, channels: channels, after: self)
    }
}

extension CubeCopy.Document {
    /// - Parameter channels: The JSON of each channel.
    fileprivate init(ofJSON channels: [Data], _ tag: CubeTag) {
        var list = ByteBuffer()
        list.reserveCapacity(channels.reduce(2) { $0 + $1.count + 1 })
        list.writeString("[")
        for (index, channel) in channels.enumerated() {
            if index > 0 { list.writeString(",") }
            list.writeBytes(channel)
        }
        list.writeString("]")
        self.init(json: SharedBody(list), tag: VersionTag(tag).text)
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
    /// - Parameter known: The copy to return if it is the cube.
    /// - Throws: ``CommandFailure``.
    func readCube(known: CubeCopy?) async throws -> CubeCopy {
        let reply = try await request(ReadCube(known: known?.version, digest: known?.digest))
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

/// The version of the cube in an entity tag: `17-9f86d081884c7d65`, or `17-9f86d081884c7d65-open` for the document without the access lists.
/// The digest of the document tells a copy that was wrong from the one that has replaced it. Tags of edits have none: `17`.
struct CubeTag: LosslessStringConvertible, Comparable {
    private static let open = "open"

    let version: CubeVersion
    let digest: CubeDigest?
    let showsAccess: Bool

    init(_ version: CubeVersion, _ digest: CubeDigest? = nil, showsAccess: Bool = true) {
        self.version = version
        self.digest = digest
        self.showsAccess = showsAccess
    }

    init?(_ description: String) {
        var parts = description.split(separator: "-", omittingEmptySubsequences: false)[...]
        guard let version = parts.popFirst().flatMap({ CubeVersion(String($0)) }) else { return nil }
        let showsAccess = parts.last.map { $0 != Self.open } ?? true
        if !showsAccess { parts.removeLast() }
        let digest = parts.popFirst().map { CubeDigest(String($0)) }
        guard digest != .some(nil), parts.isEmpty else { return nil }
        self.init(version, digest ?? nil, showsAccess: showsAccess)
    }

    static func < (one: CubeTag, other: CubeTag) -> Bool { one.version < other.version }

    var description: String {
        [version.description, digest?.description, showsAccess ? nil : Self.open].compactMap(\.self).joined(separator: "-")
    }
}

extension RequestHeader {
    /// The version of the cube that the author of an edit saw.
    static let ifMatchCube = seenVersion(#"v[0-9]{1,18}(-[0-9a-f]{1,16})?(-open)?"#)
}
