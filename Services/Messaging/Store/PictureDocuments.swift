import FoundationEssentials
import Schemas
import Store

/// The picture of a message, a status or a report, as it is stored there.
struct StoredPicture: Codable, Hashable, Sendable {
    /// ``PictureUseDocument/id``, and the picture's.
    let use: ObjectID
    let picture: String
    let type: PictureType
    let width: Int
    let height: Int
    let bytes: Int

    var info: PictureInfo { PictureInfo(type: type, width: width, height: height, bytes: bytes) }
}

/// A picture as it is stored: the file of GridFS (`mongofiles --prefix picture`), with the same form in SQLite. The same bytes
/// are stored once.
struct PictureFileDocument: StoredDocument, Hashable {
    struct Metadata: Codable, Hashable, Sendable {
        let type: PictureType
        let width: Int
        let height: Int
        /// The number of ``PictureUseDocument``s. With the last one the picture is removed.
        var uses: Int
    }

    /// The SHA-256 of its bytes, in hexadecimal digits.
    let id: String
    let length: Int64
    let chunkSize: Int32
    let uploadDate: Date
    var metadata: Metadata

    // GridFS has these names.
    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case length, chunkSize, uploadDate, metadata
    }
}

/// A part of a picture's bytes, as GridFS has it.
struct PictureChunkDocument: StoredDocument, Hashable {
    /// The size of all but the last one, in bytes.
    static let size = 255 << 10

    let id: ObjectID
    /// ``PictureFileDocument/id``.
    let file: String
    /// From 0.
    let n: Int32
    let data: Data

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case file = "files_id"
        case n, data
    }
}

/// That something has a picture, as it is stored. Who sees what it is for sees the picture.
///
/// It begins as an upload. What has the picture from then on takes it over, under the same id.
struct PictureUseDocument: StoredDocument, Hashable {
    enum Purpose: String, CaseIterable, Codable, Sendable {
        /// It was uploaded, and can be used by its owner until it expires: for anything, or for a report alone.
        case upload
        case evidence
        case message, status, profile, report
        /// A message of the hub. It expires as well.
        case published
    }

    let id: ObjectID
    /// ``PictureFileDocument/id``.
    let picture: String
    let purpose: Purpose
    /// Who has uploaded it, in lower case; `nil` for a report of a person who was erased.
    var owner: String?
    /// ``owner`` of a profile's picture, of which there is one; `nil` for all others.
    let profile: String?
    let at: UnixMilliseconds
    /// When it goes by itself; `nil` if it goes with what has it.
    let expires: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case picture, purpose, owner, profile, at, expires
    }
}

extension PictureUseDocument.Purpose: IndexValue {}
